"""What of a log is driver-missing."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field, stated
from gpucheck.rules._start import CPU_IS_ENOUGH, DRIVER_INSTALLS, ending, module_failures, unserved


def in_log(log: Log) -> Finding | None:
    """Neither half of the driver shows in the log. Where nothing in it asks for a GPU, that may be meant so."""
    end = ending(log)
    told, wanted = (end.events, end.wanted) if end is not None and end.code == "driver-missing" else ([], True)
    held = [event for event in module_failures(log) if event.fields.get("reason") == "nouveau"]
    if held and (absent := unserved(log, "driver-absent")):
        told = [*absent, *held]
    if not told:
        told, wanted = stated(log, "driver-missing"), False
    if not told:
        return None
    at = f" for the GPU at {device}" if (device := field([*told, *unserved(log, "gpu-on-bus")], "device")) else ""
    nouveau = "; nouveau holds it, which cannot run CUDA" if held else ""
    return Finding(
        summary=f"No NVIDIA driver is installed{at}{nouveau or ': neither its library nor nvidia-smi was found'}.",
        evidence=cite(*told),
        fix=(
            Fix(text="See whether the machine has an NVIDIA GPU at all", command="lspci -d 10de:"),
            *DRIVER_INSTALLS,
            *(() if wanted else (CPU_IS_ENOUGH,)),
        ),
        severity=None if wanted else Severity.WARNING,
    )
