"""Detect current problems, one line each, from values that the monitor collected."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from gpucheck.cli.screen import COMMAND
from gpucheck.commands.watch.limits import IDLE_PERCENT
from gpucheck.core.child.messages.drivers import GpuSample
from gpucheck.core.compat import nvml
from gpucheck.core.model.wording import listing

SLOWED_SHARE = 0.5  # share of the last samples; a single sample may be a normal clock change
STALL_FACTOR = 20.0  # multiple of the usual step time
MEMORY_SHARE_MIN = 0.05
REASONS = {
    "HwSlowdown": "hardware slowdown: heat or power",
    "SwThermalSlowdown": "heat (software thermal slowdown)",
    "HwThermalSlowdown": "heat (hardware thermal slowdown)",
    "HwPowerBrakeSlowdown": "its power supply (hardware power brake)",
}


class Event(NamedTuple):
    """A problem: the code of its page, and one sentence."""

    code: str
    text: str
    command: str = ""  # the command that fixes it

    def __str__(self) -> str:
        return f"gpucheck: {self.text} [{self.code}]" + (f"\n{COMMAND}{self.command}" if self.command else "")


class Pace(NamedTuple):
    """The pace of the steps."""

    usual_seconds: float | None  # median of the last steps; None: fewer than two steps
    waiting_seconds: float  # time since the last step ended


def slowed(moments: Sequence[Sequence[GpuSample]]) -> Iterator[Event]:
    """Yield GPUs that are lost, or throttled by a fault, from samples of all GPUs at several times."""
    for index, samples in enumerate(zip(*moments, strict=False)):
        if any(sample.lost for sample in samples):
            why = "it has fallen off the bus, or the driver has stopped using it"
            yield Event("gpu-lost", f"GPU {index} no longer responds: {why}")
            continue
        reasons = [nvml.harmful_reasons(sample.clock_event_reasons or 0) for sample in samples]
        often = dict.fromkeys(reason for each in reasons for reason in each)
        if sum(map(bool, reasons)) >= max(SLOWED_SHARE * len(samples), 2):
            clocks = [sample.sm_clock_mhz for sample, why in zip(samples, reasons, strict=True) if why and sample.sm_clock_mhz]
            at = f" at {median(clocks):,.0f} MHz" if clocks else ""
            by = ", ".join(REASONS.get(name, name) for name in often)
            yield Event("gpu-throttled", f"GPU {index} is throttled{at} by {by}")


def stalled(
    pace: Pace, least_seconds: float, last: Sequence[GpuSample], place: str | None, driver_unresponsive: bool
) -> Iterator[Event]:
    """Yield an event if a step takes far longer than the others, with the likely cause.

    Args:
        pace: the pace of the steps.
        least_seconds: the minimum duration of a stall.
        last: the current sample of each GPU; empty: unknown, or no GPU.
        place: the current line of Python code in a dataset ("data.py:12 in read"); None: no such code is running.
        driver_unresponsive: whether NVML has stopped responding.
    """
    if pace.usual_seconds is None or pace.waiting_seconds < max(least_seconds, STALL_FACTOR * pace.usual_seconds):
        return
    text = f"no step has ended for {pace.waiting_seconds:.0f} s; a step usually takes {_seconds(pace.usual_seconds)}"
    busy = [sample.utilization_percent for sample in last if sample.utilization_percent is not None]
    if driver_unresponsive:
        yield Event("driver-unresponsive", f"{text}. The NVIDIA driver does not respond, either")
    elif place is not None:
        yield Event("input-pipeline-bound", f"{text}. The input pipeline is at {place}")
    elif busy and max(busy) < IDLE_PERCENT:
        yield Event("input-pipeline-bound", f"{text}. The GPU is idle: it waits for data, or for another worker")
    elif busy:
        why = "a very long step, or devices that wait for each other"
        yield Event("training-failed", f"{text}. The GPU is busy ({max(busy)} %): {why}")
    else:
        yield Event("training-failed", text)


def idle(gpus: Sequence[int], least_seconds: float) -> Iterator[Event]:
    """Yield an event if GPUs that this process may use are idle while others work.

    Args:
        gpus: NVML indexes of the idle GPUs.
        least_seconds: the minimum time for which they have been idle.
    """
    if gpus:
        names = listing([f"GPU {index}" for index in gpus])
        have = "has" if len(gpus) == 1 else "have"
        yield Event(
            "replica-count-mismatch",
            f"{names} {have} been at 0 % for {least_seconds:.0f} s while others train: MirroredStrategy() without a device list"
            " uses every GPU",
        )


def waiting(share: float, over_seconds: float) -> Event:
    """Return the event for steps that waited for data for a large share (0 to 1) of a time."""
    return Event(
        "input-pipeline-bound",
        f"the steps waited for data for {100 * share:.0f} % of the last {over_seconds:.0f} s: prepare it in parallel, in"
        " dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)",
    )


def memory(available_bytes: int | None, total_bytes: int | None) -> Iterator[Event]:
    """Yield an event if main memory is about to run out; the kernel then kills the training."""
    if available_bytes is not None and total_bytes and available_bytes < MEMORY_SHARE_MIN * total_bytes:
        left = f"{available_bytes / 2**30:.1f} of {total_bytes / 2**30:.1f} GiB"
        yield Event("host-memory-exhausted", f"main memory is running out: {left} is left, and the kernel will kill the training")


def not_finite(name: str, value: float, epoch: int, step: int, precision: str, rate: float | None, stops: bool = False) -> Event:
    """Return the event for a metric that is NaN or infinite, with likely causes; ``stops``: the training is stopped."""
    what = "NaN" if value != value else "infinite"
    causes = [f"precision {precision}"] * (precision != "float32") + ([f"learning rate {rate:g}"] if rate is not None else [])
    how = f" ({', '.join(causes)})" if causes else ""
    lost = "Every later step is lost: stop, then lower the learning rate or check the data"
    then = "The training stops here" if stops else lost
    return Event("loss-not-finite", f"{name} became {what} in epoch {epoch + 1}, step {step + 1}{how}. {then}")


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
