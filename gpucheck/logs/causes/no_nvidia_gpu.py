"""What of a log is no-nvidia-gpu."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, stated
from gpucheck.rules._start import CPU_IS_ENOUGH, NO_DEVICE, NO_LIBRARY, ending, unserved


def in_log(log: Log) -> Finding | None:
    """The driver's own word, or what follows from the log as a whole. A job that needs no GPU may be meant to have none."""
    absent = unserved(log, "gpu-absent")
    end = ending(log)
    if absent:
        summary, told, wanted = "No NVIDIA GPU: the driver found none on the bus.", absent, True
    elif said := stated(log, "no-nvidia-gpu"):
        summary, told, wanted = "No NVIDIA GPU was found.", said, False
    elif end is None or end.code != "no-nvidia-gpu":
        return None
    else:
        told, wanted = end.events, end.wanted
        if end.result == NO_LIBRARY:
            summary = "No NVIDIA GPU was found: CUDA has no driver to talk to (303), and nothing in the log tells of a GPU."
        elif end.result == NO_DEVICE:
            summary = "No NVIDIA GPU was found: the driver's library is installed, and no driver runs below it (CUDA error 100)."
        else:
            summary = "No NVIDIA GPU was found: nvidia-smi lists none."
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(
            Fix(text="Look whether the machine has one, outside of any container", command="lspci -d 10de:"),
            Fix(text="If it has: install the driver, or load it", command="nvidia-smi || sudo modprobe nvidia"),
            CPU_IS_ENOUGH,
        ),
        severity=None if wanted else Severity.WARNING,
    )
