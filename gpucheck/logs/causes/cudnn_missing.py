"""What of a log is cudnn-missing."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._loading import loading
from gpucheck.rules._log import cite


def in_log(log: Log) -> Finding | None:
    """cuDNN, or a part of it, is all that the loader misses, or TensorFlow found none that it could use."""
    found = loading(log)
    if found is None or found.code != "cudnn-missing":
        return None
    name = found.sonames[0] if found.sonames else ""
    part = "_" in name.partition(".so")[0].partition("64_")[0]
    if part:
        what = f"cuDNN is incomplete: {name} is not found"
    else:
        what = (
            f"cuDNN is not found ({name})" if name else "No cuDNN that could be used was found: none, or one of another version"
        )
    major = next((digit for digit in ("9", "8") if f".so.{digit}" in name or f"_{digit}." in name), None)
    pin = f'"nvidia-cudnn-cu12=={major}.*"' if major else "nvidia-cudnn-cu12"
    return Finding(
        summary=f"{what}, and the program needs it for every convolution.",
        evidence=cite(*found.events),
        fix=(
            Fix(
                text="Lay cuDNN down with pip, whole (for CUDA 12)",
                command=f"python -m pip install --force-reinstall --no-deps {pin}",
            ),
            Fix(
                text="Or let TensorFlow bring it, with the other libraries",
                command='python -m pip install "tensorflow[and-cuda]==2.20.*"',
            ),
            Fix(text="If it is installed, let the loader see it", command="ldconfig -p | grep libcudnn"),
        ),
        severity=None if found.failed or part else Severity.WARNING,
    )
