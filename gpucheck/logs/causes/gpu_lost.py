"""What of a log is gpu-lost."""

from gpucheck.model import Finding, Severity
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import nvml, place, unserved, xids
from gpucheck.rules._words import listing, short
from gpucheck.rules._xid import advice
from gpucheck.rules.gpu_not_detected.gpu_lost import _LOST, _NOT_FOUND, _RESET_REQUIRED, _UNKNOWN, _fixes


def in_log(log: Log) -> Finding | None:
    """The kernel's or NVML's word for a GPU that is gone; a handle that fails while other GPUs answer is one, too."""
    reports = xids(log, "gpu-lost")
    failed = [] if unserved(log, "gpu-unsupported-by-driver") else unserved(log, "gpu-init-failed")  # it then refuses the GPU
    told = [event for event, _ in reports] + unserved(log, "gpu-lost") + failed + nvml(log, *map(str, _LOST))
    if not nvml(log, str(_NOT_FOUND)):
        told += [event for event in nvml(log, str(_UNKNOWN)) if event.fields.get("device")]
    if not told:
        return _unreadable(unserved(log, "gpu-smi-error"))
    told = sorted({event.line: event for event in reversed(told)}.values(), key=lambda event: event.line)
    devices = list(dict.fromkeys(device for event in told if (device := place(event))))
    label = f"The GPU at {devices[0]}" if len(devices) == 1 else f"GPUs ({listing(devices)})" if devices else "A GPU"
    reason = f"{reports[0][1].meaning} (Xid {reports[0][1].code})" if reports else told[0].fields.get("message", told[0].text)
    return Finding(
        summary=f"{label} no longer {'answer' if len(devices) > 1 else 'answers'}: {short(reason)}.",
        evidence=cite(*told),
        fix=(
            *advice(known for _, known in reports),
            *_fixes([], bool(nvml(log, str(_RESET_REQUIRED)))),
        ),
        affects=tuple(devices),
    )


def _unreadable(told: list[Event]) -> Finding | None:
    """One sensor that fails looks the same in nvidia-smi's table as a GPU that is going; a board may work without its records."""
    if not told:
        return None
    records = "inforom" in told[0].text.lower()
    return Finding(
        summary="nvidia-smi finds a board's own records (its infoROM) corrupted."
        if records
        else "nvidia-smi prints ERR! where a GPU does not answer, or one of its sensors does not.",
        evidence=cite(*told),
        fix=_fixes([], any_gpu=False),
        severity=Severity.WARNING,
    )
