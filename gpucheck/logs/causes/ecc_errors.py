"""What of a log is ecc-errors."""

from gpucheck.model import Finding, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import place, starts, xids
from gpucheck.rules._words import short
from gpucheck.rules._xid import advice
from gpucheck.rules.accuracy_changes.ecc_errors import _fix


def in_log(log: Log) -> Finding | None:
    """The kernel's, CUDA's or a report's word for lost data, or for a repair that failed or waits."""
    reports = xids(log, "ecc-errors")
    worse = [event for event, known in reports if known.severity == "error"]
    lost = worse + [event for event in log.events if event.kind == "ecc-uncorrectable"] + starts(log, "214", "226")
    repairs = [event for event in log.events if event.kind in ("row-remapping", "pages-retired")]
    counts = [event for event in log.events if event.kind == "ecc-count"]
    if any(event.kind == "ecc-history" or event.fields.get("section") for event in log.events):
        counts = [event for event in counts if event.fields.get("section")]  # since the board was made: its history
    # nvidia-smi -q has the same rows for both: without their heading, they may be history
    old = all("memory" in event.fields and "section" not in event.fields for event in counts)
    told = [*lost, *counts, *repairs, *(event for event, _ in reports)]
    if not told:
        return None
    told = sorted({event.line: event for event in reversed(told)}.values(), key=lambda event: event.line)
    device = next((found for event in told if (found := place(event))), "")
    label = f"GPU {device}" if device.isdecimal() else f"The GPU at {device}" if device else "A GPU"
    if lost:
        known = next((known for event, known in reports if event is lost[0]), None)
        what = f"{known.meaning} (Xid {known.code})" if known else short(lost[0].text)
        summary = f"{label} lost data in its memory beyond repair: {what}."
    elif counts:
        number = counts[0].fields.get("count", "")
        since = " since its driver was loaded, or since it was made" if old else " since its driver was loaded"
        summary = f"{label} has had {number} uncorrectable memory error{'s' if number != '1' else ''}{since}."
    elif repairs:
        summary = f"{label} has faulty memory whose repair failed or waits for a reset: {short(repairs[0].text)}."
    else:
        summary = f"{label} has had memory trouble: {reports[0][1].meaning} (Xid {reports[0][1].code})."
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(*advice(known for _, known in reports), *_fix()),
        affects=(device,) if device else (),
        severity=None if lost or repairs or (counts and not old) else Severity.WARNING,
    )
