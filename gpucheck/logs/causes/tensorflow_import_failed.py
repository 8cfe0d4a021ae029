"""What of a log is tensorflow-import-failed."""

import re

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Event, Log
from gpucheck.rules._backend import bypassed
from gpucheck.rules._legacy import replacements
from gpucheck.rules._loading import conflicting
from gpucheck.rules._log import cite, clash, told
from gpucheck.rules._own_files import hiding, renaming
from gpucheck.rules.gpu_not_detected.tensorflow_import_failed import _PACKAGES, _short


def in_log(log: Log) -> Finding | None:
    """An import of TensorFlow, or of what it is built on, that failed for a reason that has no page of its own."""
    if found := hiding(log):
        module, file, lines = found
        name = file or f"a file named {module}.py, most likely beside the program,"
        return Finding(
            summary=f"The import fails: {name} hides the installed module {module}.",
            evidence=cite(*lines),
            fix=renaming(module, file or f"{module}.py"),
        )
    elsewhere = {event.line for event in bypassed(log)}
    failed = [event for event in told(log, "import-failed") if _ours(event) and event.line not in elsewhere]
    parts = [event for event in told(log, "module-missing") if event.fields["module"].startswith("tensorflow.")]
    symbols = [event for event in told(log, "symbol-missing") if not conflicting(event) and re.search(_OURS, event.text)]
    lacking = told(log, "cpu-instructions-missing")
    illegal = [event for event in told(log, "killed") if event.fields.get("signal") == "SIGILL"]
    clashes = [event for event in told(log, "pip-conflict") if re.match(_OURS, event.fields.get("package", ""))]
    clashes = [
        event for event in clashes if re.match(r"numpy|protobuf|h5py|typing|ml[-_]dtypes|flatb", event.fields.get("needs", ""))
    ]
    seen = sorted((*failed, *parts, *symbols, *lacking, *illegal), key=lambda event: event.line)
    if not (seen or clashes):
        return None
    first = (seen or clashes)[0]
    module = first.fields.get("module", "")
    package = _PACKAGES.get(module, module.partition(".")[0])
    if lacking or illegal:
        named = next((f" ({event.fields['instructions']})" for event in lacking if event.fields.get("instructions")), "")
        summary = f"TensorFlow ended: this processor lacks instructions that it was built to use{named}."
    elif not seen:
        summary = f"{clash(first)}."
    else:
        because = f" because of {package}" if package and package != "tensorflow" else ""
        summary = f"TensorFlow can't be imported{because}: {_short(first.fields.get('message') or first.text)}."
    wanted = {"numpy": '"numpy<2"', "protobuf": "--upgrade protobuf"}.get(package)
    removed = [event.fields["name"] for event in told(log, "legacy-api") if event.line == first.line]
    fixes = (
        *(replacements(removed[0]) if removed else ()),
        *((Fix(text=f"Install another {package}", command=f"python -m pip install {wanted}"),) if wanted else ()),
        Fix(text="See which packages do not fit together", command="python -m pip check"),
        Fix(
            text="Start from a fresh virtual environment",
            command="python -m venv ~/tensorflow-env && ~/tensorflow-env/bin/python -m pip install tensorflow",
        ),
        *(
            (Fix(text="Windows: install Microsoft's Visual C++ redistributable for x64, and a 64-bit Python"),)
            if any("DLL" in event.text for event in failed)
            else ()
        ),
    )
    avx = Fix(
        text="Use a machine whose processor has AVX (in a virtual machine: let it see the host's processor)",
        command="grep -o -m1 -w avx /proc/cpuinfo",
    )
    return Finding(
        summary=summary,
        evidence=cite(*(seen or clashes)),
        fix=(avx,) if lacking or illegal else fixes,
        severity=None if seen else Severity.WARNING,
    )


_OURS = r"(?i)tensorflow|_pywrap|\bkeras\b|protobuf|numpy|native runtime|ml_dtypes|h5py|_h5|multiarray|libtensorflow"


_LOADED = r"lib(?:cu|nv|nccl)[\w-]*\.so|partially initialized module '(?!tensorflow)"


def _ours(event: Event) -> bool:
    """TensorFlow's import, or one below it; a CUDA library that is missed has its own page."""
    if re.search(_LOADED, event.text) or (event.fields.get("module") or "").startswith("torch"):
        return False
    if re.search(_OURS, f"{event.fields.get('module', '')} {event.text}"):
        return True
    return "DLL load failed" in event.text and "while importing" not in event.text  # of a module that it does not name
