"""What cuBLAS and cuDNN have in common where they can't start: each takes memory beside TensorFlow's own, and none was left."""

import re

from gpucheck.model import Finding, Fix, Skip
from gpucheck.probes.log import Log
from gpucheck.probes.training import Training
from gpucheck.rules._training import KERNEL_FAULTS, alarms, failure


def no_handle(
    training: Training | None, log: Log | None, *, library: str, failed: str, event: str, status: str
) -> Finding | Skip | None:
    """A run failed in the library, or the log of a run that did not pass says so.

    Args:
        training: what was trained, if anything.
        log: what was printed, if anything.
        library: what it is called.
        failed: a pattern for the reason of a run that failed in it.
        event: the kind of a log's lines that tell of it.
        status: a pattern for the result that it gave.
    """
    seen = failure(training, log, failed, event)
    if seen is None or isinstance(seen, Skip):
        return seen
    if log is not None and _was_at_work(log, event):
        return None
    told = [alarm.fields.get("status", "") for _, alarm in alarms(training, log, event)]
    match = re.search(status, " ".join([seen.text, *told]))
    return Finding(
        summary=f"{library} could not start{f' ({match[0]})' if match else ''}, mostly because too little GPU memory is left for it.",
        evidence=seen.evidence,
        fix=(
            Fix(text=f"Let TensorFlow leave memory to {library}", command="export TF_FORCE_GPU_ALLOW_GROWTH=true"),
            Fix(
                text="See whether another process holds the GPU's memory",
                command="nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
            ),
        ),
        affects=seen.affects,
    )


def _was_at_work(log: Log, event: str) -> bool:
    """Whether a kernel broke before the library failed: whatever is asked of the GPU fails then, and nothing of a start is told."""
    failed = [one for one in log.events if one.kind == event]
    broken = [one.line for one in log.events if one.kind == "cuda-error" and one.fields.get("code") in KERNEL_FAULTS]
    return bool(failed) and bool(broken) and min(broken) <= failed[0].line and not any("create" in one.text for one in failed)
