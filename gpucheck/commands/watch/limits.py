"""Find what limits the speed of a fit, and the maximum gain from removing that limit."""

from gpucheck.commands.watch.summary import Limit, Summary, seconds
from gpucheck.core.rules.low_utilization.input_pipeline_bound import HIGH

IDLE_PERCENT = 5.0  # a GPU below it is idle
SMALL_PERCENT = 50.0  # a GPU below it, whose data is ready, has too little work per step
BUSY_PERCENT = 90.0  # a GPU at or above it does not wait
THROTTLED_SHARE = 0.5
LONG_WAIT_SHARE = 0.5  # share that is reported while the training runs
READY_SHARE = 0.05  # a shorter wait for data does not matter
STEPS_MIN = 5  # fewer steps are not judged
LONG_FIRST_SHARE = 0.5
CLEARLY_LESS = 0.9
PARALLEL_PROCESSORS_MIN = 2.0  # with fewer, a parallel map has no effect
_MAP = "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"


def limit(summary: Summary, place: str | None = None, processors: float | None = None) -> Limit | None:
    """Return what limits the speed; None: too few steps.

    Args:
        summary: the figures.
        place: the most frequent line of Python code in the input pipeline ("data.py:12 in read").
        processors: number that this process may use; None: unknown.
    """
    if summary.step_seconds is None or summary.steps < STEPS_MIN:
        return None
    slowed = [gpu for gpu in summary.gpus if (gpu.throttled_share or 0) >= THROTTLED_SHARE]
    if slowed:
        names = ", ".join(f"GPU {gpu.index}" for gpu in slowed)
        text = f"{names} ran below normal clocks: check cooling and power supply (nvidia-smi -q -d PERFORMANCE)"
        return Limit(code="gpu-throttled", text=text)
    return _input_limit(summary, place, processors) or _gpu_limit(summary) or _compile_limit(summary) or _compute_limit(summary)


def _input_limit(summary: Summary, place: str | None, processors: float | None) -> Limit | None:
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
    change, gain = f"a larger batch; for a tf.data.Dataset, also {_MAP} and cache()", f"at most {times(most)} as fast"
    if summary.backend == "torch":
        change = "DataLoader(..., num_workers=...)"
    elif place:
        change = f"move that work into TensorFlow operations, in {_MAP}, or into a keras.utils.PyDataset with several workers"
    elif processors and processors < PARALLEL_PROCESSORS_MIN:
        change = "cache()"
    elif (
        processors and processors < CLEARLY_LESS * most
    ):  # TensorFlow prefetches (inject_prefetch), so reading takes all the time
        change = f"{_MAP}: up to about {times(processors)} as fast on {processors:g} processors; and cache()"
    text = (
        f"the input pipeline {verb} this training{slow}: with the data ready, a step takes {seconds(ready)} instead of"
        f" {seconds(step)}. Change: {change}: {gain}"
    )
    return Limit(code="input-pipeline-bound", text=text, faster_at_most=most)


def _gpu_limit(summary: Summary) -> Limit | None:
    busy = _busiest(summary)
    if busy is None or summary.device != "GPU" or not IDLE_PERCENT <= busy < SMALL_PERCENT:
        return None
    most = 100 / busy
    text = (
        f"each step gives the GPU too little work: it is busy {busy:.0f} % of the time, and does not wait for data."
        f" Try a larger batch, then model.compile(steps_per_execution=10) or jit_compile=True: at most {times(most)} as fast"
    )
    return Limit(code="small-per-replica-batch", text=text, faster_at_most=most)


def _compile_limit(summary: Summary) -> Limit | None:
    first = summary.first_step_seconds or 0.0
    if first < LONG_FIRST_SHARE * summary.seconds:
        return None
    took = f"{seconds(first)} of {seconds(summary.seconds)}"
    text = f"the first step, which traces and compiles, took {took}: a longer training has it only once"
    return Limit(text=text, faster_at_most=summary.seconds / max(summary.seconds - first, 0.001))


def _compute_limit(summary: Summary) -> Limit:
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
    """Return a factor as text: '1.8 times', '12 times'."""
    return f"{factor:.0f} times" if factor >= 9.95 else f"{factor:.1f} times"
