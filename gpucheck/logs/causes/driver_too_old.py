"""What of a log is driver-too-old."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field, stated, weight
from gpucheck.rules._start import DRIVER_INSTALLS, ending, starts, unserved
from gpucheck.rules.gpu_not_detected.driver_too_old import _TOO_OLD

_UNSUPPORTED_PTX = "222"


def in_log(log: Log) -> Finding | None:
    """CUDA's or the container runtime's word for it; but CUDA's runtime says so where there is no driver, too."""
    told = [*unserved(log, "driver-too-old"), *starts(log, *_TOO_OLD)]
    told += [event for event in unserved(log, "ptx-unsupported") if event.fields.get("code") == _UNSUPPORTED_PTX]
    end = ending(log)
    told = told or stated(log, "driver-too-old")
    if not told or (end is not None and end.code != "devices-hidden"):
        return None
    told.sort(key=lambda event: event.line)
    has, needed = field(told, "version"), field(told, "needed")
    if has and has.isdecimal() and len(has) >= 4:  # PyTorch prints it as CUDA does: 11040 is 11.4
        has = f"{int(has) // 1000}.{int(has) % 1000 // 10}"
    what = f"{field(told, 'condition') or 'cuda'} {needed}".replace("cuda", "CUDA") if needed else "the CUDA of this program"
    knows = f", which knows CUDA up to {has}," if has else ""
    return Finding(
        summary=f"The NVIDIA driver{knows} is too old for {what}.",
        evidence=cite(*told),
        fix=(
            Fix(text="See which driver runs, and which CUDA it knows", command="nvidia-smi"),
            *DRIVER_INSTALLS,
            Fix(text="Or use an older program or image, built with a CUDA of the driver's major version"),
        ),
        severity=weight(told),
    )
