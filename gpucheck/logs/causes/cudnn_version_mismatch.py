"""What of a log is cudnn-version-mismatch."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, clash, stated, told

_STATUS = ("VERSION_MISMATCH", "ARCH_MISMATCH")  # how cuDNN's words for it end


def in_log(log: Log) -> Finding | None:
    """The program's own comparison, cuDNN's status word for it, or pip's."""
    spoken = told(log, "cudnn-version-mismatch")
    status = [event for event in told(log, "cudnn-failed") if event.fields.get("status", "").endswith(_STATUS)]
    packages = [event for event in told(log, "pip-conflict") if "cudnn" in event.fields.get("needs", "")]
    worded = stated(log, "cudnn-version-mismatch")
    if spoken:
        fields = spoken[0].fields
        summary = f"cuDNN {fields['loaded']} is loaded, and the program was built with {fields['compiled']}."
    elif status:
        summary = f"The cuDNN that is loaded does not fit this program or this GPU ({status[0].fields['status']})."
    elif packages:
        summary = f"{clash(packages[0])}."
    elif worded:
        summary = "The cuDNN that is installed is of another version than the program was built with."
    else:
        return None
    compiled = spoken[0].fields["compiled"].replace(", ", ".") if spoken else ""
    major, _, rest = compiled.partition(".")
    minor = rest.partition(".")[0]
    pin = (
        f'"nvidia-cudnn-cu12>={major}.{minor},<{int(major) + 1}"' if minor.isdecimal() and len(major) < 3 else "nvidia-cudnn-cu12"
    )
    return Finding(
        summary=summary,
        evidence=cite(*spoken, *status, *packages, *worded),
        fix=(
            Fix(text="Install a cuDNN that fits (for CUDA 12)", command=f"python -m pip install --upgrade {pin}"),
            Fix(text="If LD_LIBRARY_PATH puts another copy first, start without it", command="unset LD_LIBRARY_PATH"),
            Fix(text="GPUs before Turing", command='python -m pip install "nvidia-cudnn-cu12>=9.3,<9.11"'),
        ),
        severity=None if spoken or status else Severity.WARNING,
    )
