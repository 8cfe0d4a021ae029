"""The check that cuBLAS and cuDNN share: each needs GPU memory outside TensorFlow's own, and fails to start if none is left."""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fix, Fixes, Skip
from gpucheck.core.model.wording import LOADING_FAILED, library_not_started
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import HOLDERS, disable_preallocation


def library_start_failure(
    log_causes: LogCauses, context: Context, library: str, code: str, *others: str
) -> Finding | Skip | None:
    """Report that a run failed in the library, or a log that reports this if no run passed.

    Args:
        log_causes: the causes in the log, and the training runs.
        context: for the repairs.
        library: its name.
        code: the rule's code.
        others: codes that the reason of a failed run may also have; if they apply, they explain this one.
    """
    cause = log_causes.cause(code)
    run = next(filter(None, map(log_causes.failed_run, (code, *others))), None)
    if cause is None and log_causes.kernel_failed:
        return None  # after a failed kernel every call to the GPU fails, so the library may have started
    spare = (
        cause.repair_values.get("spare", "")
        if cause is not None
        else LOADING_FAILED
        if run and LOADING_FAILED in run.text
        else ""
    )
    fix = tuple(leave_memory(context, library, spare))
    if run is None:
        return log_causes.finding(cause, fix) if cause is not None else log_causes.outcomes.skip
    summary = library_not_started(library, f"{run.text} {cause.summary if cause is not None else ''}")
    return Finding(summary=summary, evidence=run.evidence, fix=fix, affects=run.affects)


def leave_memory(context: Context, library: str, spare: str = "") -> Fixes:
    """Yield the fixes that leave GPU memory for the library; if most is free (``spare``), those for a wrong copy of the library."""
    if spare:
        text = (
            f"Remove other copies of {library} from the search path, so that the program loads the one that it was installed with"
        )
        yield Fix(text=text, command="unset LD_LIBRARY_PATH")
        yield Fix(
            text=f"Or install the program with its CUDA libraries in a new environment: this {library} does not match the others"
        )
        return
    yield from disable_preallocation(context, f"Leave some GPU memory for {library}")
    if context.framework == "torch":
        yield Fix(text=f"Leave some GPU memory for {library}: halve the batch size")
    yield Fix(
        text="If another process uses the GPU's memory, end it or choose another GPU (a notebook keeps the memory until its"
        " kernel ends)"
    )
    without = "" if context.windows else ", without LD_LIBRARY_PATH"
    yield Fix(text=f"If memory is free, {library} does not match the other CUDA libraries: try a new environment{without}")
    yield HOLDERS
