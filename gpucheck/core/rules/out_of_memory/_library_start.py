"""What cuBLAS and cuDNN have in common where they can't start: each takes memory beside TensorFlow's own, and none was left."""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fix, Skip
from gpucheck.core.repairs.wording import library_not_started


def library_start_failure(log_causes: LogCauses, code: str, library: str, pattern: str) -> Finding | Skip | None:
    """A run failed in the library, or the log of a run that did not pass says so.

    Args:
        log_causes: what the log says, and what was trained.
        code: of the rule.
        library: what it is called.
        pattern: found in the reason of a run that failed in it.
    """
    fix = (
        Fix(text=f"Let TensorFlow leave memory to {library}", command="export TF_FORCE_GPU_ALLOW_GROWTH=true"),
        Fix(
            text="See whether another process holds the GPU's memory",
            command="nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
            kind="look",
        ),
    )
    cause, run = log_causes.alarm(code), log_causes.outcomes.failed_run(pattern)
    if cause is None and log_causes.kernel_failed:
        return None  # whatever is asked of the GPU fails then, and nothing is said of a start
    if run is None:
        return log_causes.finding(cause, fix) if cause is not None else log_causes.outcomes.skip
    summary = library_not_started(library, f"{run.text} {cause.summary if cause is not None else ''}")
    return Finding(summary=summary, evidence=run.evidence, fix=fix, affects=run.affects)
