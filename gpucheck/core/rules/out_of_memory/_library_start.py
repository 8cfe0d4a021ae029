"""The check that cuBLAS and cuDNN share: each needs GPU memory outside TensorFlow's own, and fails to start if none is left."""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fix, Skip
from gpucheck.core.repairs.wording import library_not_started


def library_start_failure(log_causes: LogCauses, code: str, library: str, pattern: str) -> Finding | Skip | None:
    """Report that a run failed in the library, or that the log of a run that did not pass says so.

    Args:
        log_causes: the causes in the log, and the training runs.
        code: the rule's code.
        library: its name.
        pattern: matches the reason of a run that failed in the library.
    """
    fix = (
        Fix(text=f"Leave some GPU memory for {library}", command="export TF_FORCE_GPU_ALLOW_GROWTH=true"),
        Fix(
            text="Check whether another process uses the GPU's memory",
            command="nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
            kind="look",
        ),
    )
    cause, run = log_causes.alarm(code), log_causes.outcomes.failed_run(pattern)
    if cause is None and log_causes.kernel_failed:
        return None  # after a failed kernel every call to the GPU fails, so the library may have started
    if run is None:
        return log_causes.finding(cause, fix) if cause is not None else log_causes.outcomes.skip
    summary = library_not_started(library, f"{run.text} {cause.summary if cause is not None else ''}")
    return Finding(summary=summary, evidence=run.evidence, fix=fix, affects=run.affects)
