"""Say what limits the speed of a fit, from its figures, and what removing that limit would bring at most."""

from gpucheck.commands.watch.summary import Limit, Summary, seconds
from gpucheck.core.rules.low_utilization.input_pipeline_bound import HIGH

IDLE_PERCENT = 5.0  # below it, a GPU did nothing
SMALL_PERCENT = 50.0  # below it, a GPU whose data is ready has too little to do in a step
BUSY_PERCENT = 90.0  # from it on, the GPU does not wait
THROTTLED_SHARE = 0.5
LONG_WAIT_SHARE = 0.5  # to report while the training runs
READY_SHARE = 0.05  # below it, the wait for data does not matter
LEAST_STEPS = 5  # to say anything
LONG_FIRST_SHARE = 0.5
CLEARLY_LESS = 0.9
TWO = 2.0  # processors: fewer do nothing in parallel
_MAP = "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"


def limit(summary: Summary, place: str | None = None, processors: float | None = None) -> Limit | None:
    """Return what limits the speed; None: too few steps.

    Args:
        summary: the figures.
        place: the line of Python code that the input pipeline was seen in most often ("data.py:12 in read").
        processors: that this process may use; None: unknown.
    """
    if summary.step_seconds is None or summary.steps < LEAST_STEPS:
        return None
    slowed = [gpu for gpu in summary.gpus if (gpu.throttled_share or 0) >= THROTTLED_SHARE]
    if slowed:
        names = ", ".join(f"GPU {gpu.index}" for gpu in slowed)
        text = f"{names} ran below normal clocks: check cooling and power supply (nvidia-smi -q -d PERFORMANCE)"
        return Limit(code="gpu-throttled", text=text)
    return _of_input(summary, place, processors) or _of_gpus(summary) or _of_compiling(summary) or _of_computing(summary)


def _of_input(summary: Summary, place: str | None, processors: float | None) -> Limit | None:
    share, busy = summary.input_wait_share, _busiest(summary)
    if share is None or share < HIGH or (busy is not None and busy >= BUSY_PERCENT):
        return None
    if not summary.input_wait_exact and busy is None and share < 1 - HIGH:
        return None  # the data may have been fetched while the devices computed
    step = summary.step_seconds or 0.0
    ready = step * (1 - share)
    most = 1 / max(1 - share, 0.001)
    slow = f" (its Python code at {place})" if place else ""
    verb = "limits" if share >= 0.5 else "slows"
    change, gain = f"a larger batch, or for a dataset {_MAP}, cache()", f"at most {times(most)} as fast"
    if summary.backend == "torch":
        change = "DataLoader(..., num_workers=...)"
    elif place:
        change = f"move that work into TensorFlow operations, in {_MAP}, or into a keras.utils.PyDataset with several workers"
    elif processors and processors < TWO:
        change = "cache()"
    elif processors and processors < CLEARLY_LESS * most:  # TensorFlow prefetches (inject_prefetch): reading is all the time
        change = f"{_MAP}: up to about {times(processors)} as fast on {processors:g} processors; and cache()"
    text = (
        f"the input pipeline {verb} this training{slow}: with the data ready, a step takes {seconds(ready)} instead of"
        f" {seconds(step)}. Change: {change}: {gain}"
    )
    return Limit(code="input-pipeline-bound", text=text, faster_at_most=most)


def _of_gpus(summary: Summary) -> Limit | None:
    busy = _busiest(summary)
    if busy is None or summary.device != "GPU" or not IDLE_PERCENT <= busy < SMALL_PERCENT:
        return None
    most = 100 / busy
    text = (
        f"each step gives the GPU too little work: it is busy {busy:.0f} % of the time, and does not wait for data."
        f" Try a larger batch, then model.compile(steps_per_execution=10) or jit_compile=True: at most {times(most)} as fast"
    )
    return Limit(code="small-per-replica-batch", text=text, faster_at_most=most)


def _of_compiling(summary: Summary) -> Limit | None:
    first = summary.first_step_seconds or 0.0
    if first < LONG_FIRST_SHARE * summary.seconds:
        return None
    took = f"{seconds(first)} of {seconds(summary.seconds)}"
    text = f"the first step, which traces and compiles, took {took}: a longer training has it only once"
    return Limit(text=text, faster_at_most=summary.seconds / max(summary.seconds - first, 0.001))


def _of_computing(summary: Summary) -> Limit:
    share = summary.input_wait_share
    ready = "the data is ready in time; " if share is not None and share < READY_SHARE else ""
    if summary.device == "GPU":
        more = "gpucheck --full measures what mixed precision and XLA bring on this machine"
        return Limit(text=f"{ready}computing limits this training. {more}")
    return Limit(text=f"{ready}computing on the CPU limits this training")


def _busiest(summary: Summary) -> float | None:
    known = [gpu.utilization_percent for gpu in summary.gpus if gpu.utilization_percent is not None]
    return max(known) if known and summary.device == "GPU" else None


def times(factor: float) -> str:
    """'1.8 times', '12 times'."""
    return f"{factor:.0f} times" if factor >= 10 else f"{factor:.1f} times"
