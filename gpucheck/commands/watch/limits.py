"""Find what limits the speed of a fit, and the maximum gain from removing that limit."""

from typing import NamedTuple

from gpucheck.commands.watch.running import Data
from gpucheck.commands.watch.summary import Summary, seconds
from gpucheck.core.model.fit import Limit
from gpucheck.core.model.thresholds import INPUT_WAIT_SHARE_HIGH

IDLE_PERCENT = 5.0  # a GPU below this is idle
SMALL_PERCENT = 50.0  # a GPU below this, whose data is ready, has too little work per step
BUSY_PERCENT = 90.0  # a GPU at or above this does not wait
THROTTLED_SHARE = 0.5
LONG_WAIT_SHARE = 0.5  # share that is reported while the training runs
READY_SHARE = 0.05  # a shorter wait for data does not matter
STEPS_MIN = 5  # fewer steps are not judged
LONG_FIRST_SHARE = 0.5
CLEARLY_LESS = 0.9
PARALLEL_PROCESSORS_MIN = 2.0  # with fewer, a parallel map has no effect
LARGEST_GAIN = 100.0  # a larger factor may be mostly measurement error
_MAP = "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"
_WORKERS = "workers=4, use_multiprocessing=True"


class Pipeline(NamedTuple):
    """The input pipeline of a fit."""

    data: Data | None = None  # None: unknown
    place: str | None = None  # the most frequent line of Python code in it ("data.py:12 in read")
    processors: float | None = None  # number that this process may use; None: unknown
    why_unmeasured: str = ""  # why the wait for data may be unknown


def limit(summary: Summary, pipeline: Pipeline = Pipeline()) -> Limit | None:  # noqa: B008 - immutable
    """Return what limits the speed; None: too few steps."""
    if summary.step_seconds is None or summary.steps < STEPS_MIN:
        return None
    slowed = [gpu for gpu in summary.gpus if (gpu.throttled_share or 0) >= THROTTLED_SHARE]
    if slowed:
        names = ", ".join(f"GPU {gpu.index}" for gpu in slowed)
        text = f"{names} ran below normal clocks: check cooling and power supply (nvidia-smi -q -d PERFORMANCE)"
        return Limit(code="gpu-throttled", text=text)
    unmeasured = pipeline.why_unmeasured if summary.input_wait_share is None else ""
    return (
        _input_limit(summary, pipeline)
        or (None if unmeasured else _gpu_limit(summary))
        or _compile_limit(summary)
        or _compute_limit(summary, unmeasured)
    )


def _input_limit(summary: Summary, pipeline: Pipeline) -> Limit | None:
    share, busy = summary.input_wait_share, _busiest(summary)
    if share is None or share < INPUT_WAIT_SHARE_HIGH or (busy is not None and busy >= BUSY_PERCENT):
        return None
    if not summary.input_wait_exact and busy is None and share < 1 - INPUT_WAIT_SHARE_HIGH:
        return None  # the data may have been fetched while the devices computed
    step = summary.step_seconds or 0.0
    ready = step * (1 - share)
    most = 1 / max(1 - share, 1 / LARGEST_GAIN)
    slow = f" (its Python code at {pipeline.place})" if pipeline.place else ""
    verb = "limits" if share >= 0.5 else "slows"
    gain = f"at most {times(most)}" if most < LARGEST_GAIN else f"more than {LARGEST_GAIN:.0f} times"
    text = (
        f"the input pipeline {verb} this training{slow}: with the data ready, a step takes {seconds(ready)} instead of"
        f" {seconds(step)}. Change: {_change(summary, pipeline, most)}: {gain} as fast"
    )
    return Limit(code="input-pipeline-bound", text=text, faster_at_most=most)


def _change(summary: Summary, pipeline: Pipeline, most: float) -> str:
    """Return how to make this kind of data ready sooner."""
    data, processors = pipeline.data, pipeline.processors
    if data == "DataLoader" or (data is None and summary.backend == "torch"):
        return "DataLoader(..., num_workers=...)"
    if data == "PyDataset":
        return f"several workers for the PyDataset, super().__init__({_WORKERS})"
    if data == "generator":
        return f"a keras.utils.PyDataset ({_WORKERS}) instead of the generator"
    if data == "arrays":
        return "a larger batch"
    if pipeline.place:
        other = "" if data else f", or into a keras.utils.PyDataset ({_WORKERS})"
        return f"move that work into TensorFlow operations, in {_MAP}{other}"
    if data == "dataset" and processors and processors < PARALLEL_PROCESSORS_MIN:
        return "cache()"
    if data == "dataset" and processors and processors < CLEARLY_LESS * most:
        # TensorFlow prefetches (inject_prefetch), so reading takes all the time
        return f"{_MAP}: up to about {times(processors)} as fast on {processors:g} processors; and cache()"
    return f"{'' if data else 'a larger batch; for a tf.data.Dataset, also '}{_MAP} and cache()"


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
    text = f"the first step, which traces and compiles, took {took}: a longer run pays for it only once, too"
    return Limit(text=text, faster_at_most=summary.seconds / max(summary.seconds - first, 0.001))


def _compute_limit(summary: Summary, unmeasured: str) -> Limit:
    busy = _busiest(summary)
    if unmeasured and (busy is None or busy < BUSY_PERCENT):
        return Limit(text=f"what limits this training is unknown, because the wait for data was not measured: {unmeasured}")
    share = summary.input_wait_share
    ready = "the data is ready in time; " if share is not None and share < READY_SHARE else ""
    if summary.device == "GPU":
        more = "gpucheck --full measures the gain from mixed precision and XLA on this machine"
        return Limit(text=f"{ready}computing limits this training. {more}")
    return Limit(text=f"{ready}computing on the CPU limits this training")


def _busiest(summary: Summary) -> float | None:
    known = [gpu.utilization_percent for gpu in summary.gpus if gpu.utilization_percent is not None]
    return max(known) if known and summary.device == "GPU" else None


def times(factor: float) -> str:
    """Return a factor as text: '1.8 times', '12 times'."""
    return f"{factor:.0f} times" if factor >= 9.95 else f"{factor:.1f} times"
