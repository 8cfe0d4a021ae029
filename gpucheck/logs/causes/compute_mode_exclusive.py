"""What of a log is compute-mode-exclusive."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field
from gpucheck.rules._start import starts
from gpucheck.rules.gpu_not_detected.compute_mode_exclusive import _DEVICE_UNAVAILABLE


def in_log(log: Log) -> Finding | None:
    """CUDA's word for it: a mode alone is a site's choice."""
    told = starts(log, str(_DEVICE_UNAVAILABLE))
    if not told:
        return None
    modes = [event for event in log.events if event.kind == "compute-mode"]
    mode = field(modes, "mode")
    summary = (
        f"CUDA was refused a GPU (error 46): its compute mode {mode} keeps other processes out."
        if mode
        else "CUDA was refused a GPU as busy or unavailable (error 46): its compute mode lets in one process or none."
    )
    return Finding(
        summary=summary,
        evidence=cite(*told[:2], *modes[:1]),
        fix=(
            Fix(text="See who uses it, and its mode; wait for that process or end it", command="nvidia-smi"),
            Fix(text="Let every program in again, until the driver is reloaded", command="sudo nvidia-smi -c DEFAULT"),
        ),
    )
