"""What of a log is nvlink-down."""

from gpucheck.model import Finding, Severity
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import cite, field
from gpucheck.rules._start import place, starts, xids
from gpucheck.rules._words import short
from gpucheck.rules._xid import advice
from gpucheck.rules.multi_gpu_slowdown.nvlink_down import _fix


def in_log(log: Log) -> Finding | None:
    """The kernel's, CUDA's or nvidia-smi's word for a link; what an Xid calls Nonfatal has repaired itself.

    An NVSwitch may also report what cost one program's transfers, or nothing: that is a warning.
    """
    reports = xids(log, "nvlink-down")
    seen = [event for event in log.events if event.kind == "nvlink-down" and "Nonfatal" not in event.text]
    grave = [event for event in seen if "degree" not in event.fields]
    told = [event for event, _ in reports] + grave + starts(log, "220")
    if not told:
        return _mild([event for event in seen if event not in grave])
    told = sorted({event.line: event for event in reversed(told)}.values(), key=lambda event: event.line)
    device, link = next((found for event in told if (found := place(event))), None), field(told, "link")
    which = f"NVLink {link}" if link else "An NVLink"
    where = f" of the GPU at {device}" if device else ""
    why = f"{reports[0][1].meaning} (Xid {reports[0][1].code})" if reports else short(told[0].text)
    return Finding(
        summary=f"{which}{where} is down: {why}.",
        evidence=cite(*told),
        fix=(*advice(known for _, known in reports), *_fix()),
        affects=(device,) if device else (),
        severity=Severity.ERROR,
    )


def _mild(told: list[Event]) -> Finding | None:
    if not told:
        return None
    link = field(told, "link")
    return Finding(
        summary=f"An NVSwitch reports errors{f' of NVLink {link}' if link else ''} that it does not call fatal: {short(told[0].text)}.",
        evidence=cite(*told),
        fix=_fix(),
        severity=Severity.WARNING,
    )
