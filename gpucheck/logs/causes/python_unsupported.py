"""What of a log is python-unsupported."""

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._form import form
from gpucheck.rules._log import cite, stated, weight
from gpucheck.rules._log import told as still
from gpucheck.rules._pip import python_for, refused
from gpucheck.rules.gpu_not_detected.python_unsupported import _RECOMMENDED, _found


def _answered(log: Log) -> Finding | None:
    """Python and TensorFlow as a form names them, where TensorFlow is not there to be imported."""
    answers = form(log)
    absent = [event for event in still(log, "module-missing") if event.fields["module"].partition(".")[0] == "tensorflow"]
    if not absent or answers.python is None:
        return None
    known = releases.release(answers.tensorflow) if answers.tensorflow else releases.RELEASES[releases.LATEST]
    python = versions.parse(answers.python)[:2]
    if known is None or versions.parse(known.python_min) <= python <= versions.parse(known.python_max):
        return None
    if answers.tensorflow is None and python < versions.parse(known.python_min):
        return None  # an old question, about a TensorFlow of its time
    return _found(
        f"TensorFlow {known.minor} is for Python {known.python_min} to {known.python_max}, and this is Python {answers.python}.",
        cite(*absent[:1], *answers.events),
    )


def in_log(log: Log) -> Finding | None:
    """pip has no package for this Python: it says so, or offers none or other versions than the one asked for."""
    found = refused(log)
    if found is None and (answered := _answered(log)) is not None:
        return answered
    if found is None and (said := stated(log, "python-unsupported")):
        return Finding(
            summary="This Python is none that the package supports.",
            evidence=cite(*said),
            fix=(
                Fix(text="See which Python this is", command="python -VV"),
                Fix(
                    text="Make an environment with one that it supports",
                    command=f"uv venv --python {_RECOMMENDED} ~/tensorflow-env",
                ),
            ),
            severity=weight(said),
        )
    if found is None or found.code != "python-unsupported":
        return None
    what = f"{found.package}{found.asked}"
    if found.python and found.needed:
        summary = f"{what} needs Python {found.needed}, and this is Python {found.python}."
    else:
        offers = f": it offers {found.offered}" if found.offered and found.offered != "none" else ""
        summary = f"pip finds no {what} for this Python{offers}."
    python = python_for(found.asked) or _RECOMMENDED
    return Finding(
        summary=summary,
        evidence=cite(*found.events),
        fix=(
            Fix(text="See which Python this is, and whether it is a 64-bit one", command="python -VV"),
            Fix(
                text="Make an environment with a Python that it supports (uv fetches it if need be)",
                command=f'uv venv --python {python} ~/tensorflow-env && uv pip install --python ~/tensorflow-env/bin/python "{what}"',
            ),
            Fix(text="Or with conda", command=f"conda create -n tensorflow python={python}"),
        ),
    )
