"""Each GPU's activity during training, sampled through NVML several times a second."""

import msgspec

from gpucheck.core.child.messages.drivers import GpuSample, StopSampling
from gpucheck.core.compat import nvml
from gpucheck.core.host import Host, sampler
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import gpus
from gpucheck.core.probes._frameworks import driver_hangs, training_child

INTERVAL_SECONDS = 0.2  # between two samples; more in a soak of several hours, which has as many samples as one hour


class GpuActivity(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU from TensorFlow's import to the end of training; null: not reported by NVML."""

    index: int  # NVML's
    samples: int
    utilization_percent: float | None = None  # the highest
    temperature_celsius: int | None = None  # the highest
    sm_clock_mhz: float | None = None  # median of the samples in which it was busy
    slowed_samples: int | None = None  # those in which a fault reduced the clock: heat, or the power supply
    slowed_by: tuple[str, ...] = ()  # names of clock event reasons
    slowed_sm_clock_mhz: float | None = None  # median of those samples


class Activity(Fact, frozen=True, kw_only=True):
    """Every GPU that was sampled; empty if NVML counts none."""

    gpus: tuple[GpuActivity, ...] = ()


@probe(level=Level.DEFAULT, smoke=True)
def read(host: Host) -> Activity:
    """Sample until the training child ends.

    Raises:
        RuntimeError: NVML can't be queried, or hangs.
    """
    if not gpus.read(host).gpus:
        return Activity()
    if driver_hangs(host):
        raise RuntimeError("NVML: no answer")
    sampling = sampler.start(host, INTERVAL_SECONDS * max(1.0, host.request.soak_minutes / 60))
    training_child(host).end()
    sampling.send(StopSampling())  # without waiting: a driver may hang
    rows = [row.gpus for row in sampler.samples(sampling)]
    count = max(map(len, rows), default=0)
    samples = [[gpus[index] for gpus in rows if index < len(gpus) and not gpus[index].lost] for index in range(count)]
    return Activity(gpus=tuple(_sum_up(index, of_gpu) for index, of_gpu in enumerate(samples)))


def _sum_up(index: int, samples: list[GpuSample]) -> GpuActivity:
    from statistics import median  # --quick does not need it

    answered = [sample for sample in samples if sample.clock_event_reasons is not None]
    slowed = [(sample, reasons) for sample in answered if (reasons := nvml.harmful_reasons(sample.clock_event_reasons or 0))]
    clocks = [sample.sm_clock_mhz for sample, _ in slowed if sample.sm_clock_mhz is not None]
    busy = [sample.utilization_percent for sample in samples if sample.utilization_percent is not None]
    running = [sample.sm_clock_mhz for sample in samples if sample.utilization_percent and sample.sm_clock_mhz is not None]
    degrees = [sample.temperature_celsius for sample in samples if sample.temperature_celsius is not None]
    return GpuActivity(
        index=index,
        samples=len(samples),
        utilization_percent=max(busy, default=None),
        temperature_celsius=max(degrees, default=None),
        sm_clock_mhz=median(running) if running else None,
        slowed_samples=len(slowed) if answered else None,
        slowed_by=tuple(dict.fromkeys(reason for _, reasons in slowed for reason in reasons)),
        slowed_sm_clock_mhz=median(clocks) if clocks else None,
    )
