"""What each GPU does while training runs: NVML, asked several times a second."""

from statistics import median
from typing import Any

import msgspec

from gpucheck.compat import nvml
from gpucheck.engine.plugin import probe
from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.probes import _sampler, gpus
from gpucheck.probes._framework import trainer


class GpuActivity(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU from TensorFlow's import to the end of training; null: NVML did not say."""

    index: int  # NVML's
    samples: int
    utilization_percent: float | None = None  # the highest
    slowed_samples: int | None = None  # those in which a fault held the clock down: heat, or a power supply
    slowed_by: tuple[str, ...] = ()  # by what: names of clock event reasons
    slowed_sm_clock_mhz: float | None = None  # median of those samples


class Activity(Fact, frozen=True, kw_only=True):
    """Every GPU that was sampled; empty where NVML counts none."""

    gpus: tuple[GpuActivity, ...] = ()


@probe(level=Level.DEFAULT, smoke=True)
def read(host: Host) -> Activity:
    """Sample until the child that trains has ended.

    Raises:
        RuntimeError: NVML can't be asked.
    """
    if not gpus.read(host).gpus:
        return Activity()
    sampler = _sampler.start(host)
    trainer(host).end()
    sampler.tell("stop")  # not waited for: a driver may hang
    moments = [moment["gpus"] for moment in _sampler.samples(sampler)]
    count = max(map(len, moments), default=0)
    return Activity(gpus=tuple(_summed_up(index, [gpus[index] for gpus in moments if gpus[index]]) for index in range(count)))


def _summed_up(index: int, samples: list[dict[str, Any]]) -> GpuActivity:
    known = [one for one in samples if one.get("clock_event_reasons") is not None]
    slowed = [(one, reasons) for one in known if (reasons := nvml.harmful_reasons(one["clock_event_reasons"]))]
    clocks = [one["sm_clock_mhz"] for one, _ in slowed if one.get("sm_clock_mhz") is not None]
    busy = [one["utilization_percent"] for one in samples if one.get("utilization_percent") is not None]
    return GpuActivity(
        index=index,
        samples=len(samples),
        utilization_percent=max(busy, default=None),
        slowed_samples=len(slowed) if known else None,
        slowed_by=tuple(dict.fromkeys(reason for _, reasons in slowed for reason in reasons)),
        slowed_sm_clock_mhz=median(clocks) if clocks else None,
    )
