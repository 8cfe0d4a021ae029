"""What of a log is cuda-init-failed."""

from gpucheck.compat.cuda import cu_result
from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field
from gpucheck.rules._start import READ_KERNEL_LOG, starts, xids
from gpucheck.rules._words import short
from gpucheck.rules.gpu_not_detected.cuda_init_failed import _MEANINGS, _MPS

# Other rules know what to make of these.
_ELSEWHERE = {"3", "34", "35", "36", "46", "100", "101", "214", "303", "802", "803", "804", "919"}


def in_log(log: Log) -> Finding | None:
    """A refusal at the start that names no cause, or an "unknown error" later; an Xid that tells of a GPU that did not start."""
    told = [event for event in starts(log) if event.fields.get("code") not in _ELSEWHERE] or starts(
        log, "304", "999", *map(str, _MPS)
    )
    reports = xids(log, "cuda-init-failed")
    if not told and not reports:
        return None
    code = field(told, "code")
    known = cu_result(int(code)) if code is not None and code.isdecimal() else None
    if known is not None and code is not None:
        meaning = _MEANINGS.get(int(code)) or known.meaning
        summary = f"CUDA does not start: it answers {known.name} ({code}: {meaning})."
    else:
        told_so = field(told, "message") or (reports[0][1].meaning if reports else "the driver gives no reason")
        summary = f"CUDA does not start: {short(told_so)}."
    mps = Fix(text="Stop the MPS server (its clients too), then start it anew", command="echo quit | nvidia-cuda-mps-control")
    reload = Fix(
        text="Load nvidia-uvm anew, with every GPU program ended (after a suspend it is often in a bad state, or not loaded)",
        command="sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm && sudo nvidia-modprobe -u -c=0",
    )
    restart = Fix(text="Restart the machine; if that does not help, reinstall the driver")
    return Finding(
        summary=summary,
        evidence=cite(*told, *(event for event, _ in reports)),
        fix=(mps if code is not None and code in map(str, _MPS) else reload, READ_KERNEL_LOG, restart),
    )
