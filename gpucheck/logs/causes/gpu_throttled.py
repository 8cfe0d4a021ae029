"""What of a log is gpu-throttled."""

from gpucheck.model import Finding
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules.low_utilization.gpu_throttled import FIX


def in_log(log: Log) -> Finding | None:
    """The words of nvidia-smi -q or dcgmi diag; a GPU held at its power limit works as it should."""
    told = [event for event in log.events if event.kind == "gpu-throttled" and "power cap" not in event.fields.get("reason", "")]
    if not told:
        return None
    reason = told[0].fields.get("reason", "heat").lower()
    seconds = told[0].fields.get("seconds")
    return Finding(
        summary=f"A GPU is slowed down ({reason}{f', {seconds} s of it' if seconds else ''}).",
        evidence=cite(*told),
        fix=FIX,
    )
