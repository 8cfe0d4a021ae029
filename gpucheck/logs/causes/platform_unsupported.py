"""What of a log is platform-unsupported."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, stated, told, weight
from gpucheck.rules._pip import refused
from gpucheck.rules.gpu_not_detected.platform_unsupported import _NVIDIA_IMAGE


def in_log(log: Log) -> Finding | None:
    """A C library that is too old or of another kind, or a package that pip does not have for this machine."""
    old = [event for event in told(log, "symbol-missing") if event.fields.get("version", "").startswith("GLIBC_")]
    musl, found = told(log, "musl"), refused(log)
    if old:
        fields = old[0].fields
        summary, lines = f"This program needs {fields['version']}, and the C library of this system is older.", old
    elif any("symbol not found" in event.text or "ld-linux" in event.text for event in musl):
        summary, lines = "This system uses the musl C library, and TensorFlow's packages need glibc.", musl
    elif found is not None and found.code == "platform-unsupported":
        machine = next((f" ({name})" for event in log.events if (name := event.fields.get("machine"))), "")
        summary, lines = f"pip has no {found.package} for this platform{machine}.", found.events
    elif said := stated(log, "platform-unsupported"):
        summary, lines = "There is no package for this platform.", said
    else:
        return None
    return Finding(
        summary=summary,
        evidence=cite(*lines),
        fix=(
            Fix(
                text="Use a newer distribution with glibc, or an image with one",
                command="docker run --gpus all -it tensorflow/tensorflow:latest-gpu",
            ),
            Fix(
                text=f"On 64-bit ARM, use NVIDIA's own build, the image {_NVIDIA_IMAGE}",
                command=f"docker run --gpus all -it {_NVIDIA_IMAGE}",
            ),
        ),
        severity=weight(lines),
    )
