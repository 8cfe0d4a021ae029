"""This Python is outside the range that TensorFlow supports.

Symptom:
    ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
    ERROR: No matching distribution found for tensorflow
    ERROR: Package 'tensorflow' requires a different Python: 3.8.10 not in '>=3.9'
Cause:
    Each TensorFlow release is built for some Python versions; a new Python has to wait for the next release, and old ones are dropped.
    TensorFlow needs CPython: there is none for PyPy.
Fix:
    1. Check the Python version, and whether it is a 64-bit build
       ? python -VV
    2. Create an environment with a Python that TensorFlow supports (uv downloads it if necessary)
       $ uv venv --python 3.12 ~/tensorflow-env && uv pip install --python ~/tensorflow-env/bin/python tensorflow
    3. Or with conda
       $ conda create -n tensorflow python=3.12
    4. For an old release, name an older Python: TensorFlow 2.16 to 2.19 are for Python up to 3.12, 2.12 to 2.15 up to 3.11, 2.10 and
       2.11 up to 3.10
Verify:
    python --version is within the range of the table in TensorFlow's installation guide.
Unless:
    You built TensorFlow for this Python yourself and it works.
Example:
    interpreter.version = "3.14.0"
    packages = {}
    libraries = {}
    tensorflow = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'tensorflow'"}
    keras = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'keras'"}
    training.runs = []
    -> No known TensorFlow release has packages for Python 3.14.0: 2.21 is for Python 3.10 to 3.13.
References:
    https://www.tensorflow.org/install/pip
"""

from gpucheck.core.combiners.installation import Installation
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.tensorflow import TensorFlow

_RECOMMENDED = "3.12"


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "tensorflow-not-installed",
        "tensorflow-import-failed",
        "gpus-not-listed",
        "training-failed",
        "training-crashed",
    ),
    tensorflow=True,
)
def check(installation: Installation, tensorflow: TensorFlow | None, outcomes: TrainingOutcomes) -> Finding | None:
    """The installed TensorFlow's own range if there is one; else whether any release has packages for this Python."""
    if tensorflow is not None and tensorflow.imported:
        return None  # what imports supports it
    interpreter, packages = installation.interpreter, installation.packages
    python = f"Python {interpreter.version}"
    if interpreter.implementation.lower() != "cpython":
        return _found(
            f"TensorFlow has no packages for {interpreter.implementation} ({python}): it needs CPython.",
            saw(interpreter, "implementation", "version"),
        )
    evidence = (*saw(interpreter, "version"), *outcomes.saw_events(Kind.PIP_NO_MATCHING_DISTRIBUTION))
    installed, asked = packages.tensorflow, packages.tensorflow_requires_python
    if installed is not None:
        if not asked or versions.satisfies(interpreter.version, asked) is not False:
            return None
        return _found(
            f"{installed.name} {installed.version} needs Python {asked}, but this is {python}.",
            (*evidence, *saw(packages, "tensorflow.version", "tensorflow_requires_python")),
        )
    if not versions.parse(interpreter.version) or releases.for_python(interpreter.version) is not None:
        return None
    newest = releases.RELEASES[releases.LATEST]
    return _found(
        f"No known TensorFlow release has packages for {python}: {newest.minor} is for Python {newest.python_min} to"
        f" {newest.python_max}.",
        evidence,
    )


def _found(summary: str, evidence: tuple[Evidence, ...]) -> Finding:
    return Finding(
        summary=summary,
        evidence=evidence,
        fix=(
            Fix(
                text="Create an environment with a Python that TensorFlow supports (uv downloads it if necessary)",
                command=f"uv venv --python {_RECOMMENDED} ~/tensorflow-env && uv pip install --python ~/tensorflow-env/bin/python tensorflow",
            ),
            Fix(text="Or with conda", command=f"conda create -n tensorflow python={_RECOMMENDED}"),
        ),
    )
