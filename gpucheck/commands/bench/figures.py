"""Calculate figures from raw seconds, and derived figures. Missing values stay None."""

import math
from collections.abc import Callable, Iterable
from statistics import median

from msgspec.structs import asdict, replace

from gpucheck.commands.bench.model import GpuLoad, Measurement, Sample, Spread
from gpucheck.core.child.messages.benchmark import Configuration, Measured, Profile
from gpucheck.core.child.messages.drivers import Sampled
from gpucheck.core.compat import nvml
from gpucheck.core.training.smoke.throughput import input_wait_share, scaling_efficiency

REPEATS_MIN = 3
RAW = {*Measured.__struct_fields__}.intersection(Measurement.__struct_fields__) - {"repeats", "profile"}  # reported as sent
READINGS = ("utilization_percent", "power_watts", "sm_clock_mhz")  # NVML's values
UTILIZATION_SECONDS = 1.0  # NVML's utilization covers at most the last second (nvmlUtilization_t), perhaps from before the steps
SAMPLES_MAX = 2000
SECONDS_PER_HOUR = 3600


def spread(values: list[float]) -> Spread:
    """Return median, minimum and maximum of at least one value."""
    return Spread(median=median(values), minimum=min(values), maximum=max(values), values=tuple(values))


def measurement(configuration: Configuration, raw: Measured | None, reason: str | None = None) -> Measurement:
    """Return the measurement of one configuration.

    Args:
        configuration: the planned configuration.
        raw: the child's measurements; None: not measured.
        reason: why it was not measured.
    """
    base = Measurement(**{**asdict(configuration), "reason": reason}, status="not-measured")
    if raw is None:
        return base
    if raw.problem or not raw.repeats:
        return replace(base, status="failed", reason=raw.problem or "the measuring process reported no times")
    steps, batch = raw.steps, raw.global_batch_size
    base = replace(base, batch_size=configuration.batch_size or batch // raw.replicas)
    epochs = [repeat.epoch_seconds for repeat in raw.repeats]
    per_step = [median(seconds) / steps for seconds in epochs]
    resident = [repeat.device_seconds / steps for repeat in raw.repeats]
    accuracies = [repeat.accuracies[-1] for repeat in raw.repeats if repeat.accuracies]
    to_target = [repeat.seconds_to_target for repeat in raw.repeats if repeat.seconds_to_target is not None]
    profile = raw.profile or Profile("")
    return replace(
        base,
        status="measured",
        **{name: getattr(raw, name) for name in RAW},
        repeats=len(epochs),
        epochs=tuple(len(seconds) for seconds in epochs),
        samples_per_second=spread([batch / seconds for seconds in per_step]),
        step_seconds=spread(per_step),
        epoch_seconds=spread([median(seconds) for seconds in epochs]),
        device_samples_per_second=spread([batch / seconds for seconds in resident]),
        device_step_seconds=spread(resident),
        input_wait_share=spread([input_wait_share(whole, alone) for whole, alone in zip(per_step, resident, strict=True)]),
        accuracy=spread(accuracies) if accuracies else None,
        seconds_to_target=spread(to_target) if len(to_target) == len(raw.repeats) else None,
        profile=profile.folder if profile.recorded else None,
        traced=profile.traced,
        profile_problem=profile.problem,
    )


def load(samples: list[Sampled], began: float, ended: float, indexes: dict[str, int]) -> tuple[GpuLoad, ...]:
    """Return the medians of NVML's values for each device between two times; utilization only once it covers this period alone.

    Args:
        samples: as the sampler reports them.
        began: start on the monotonic clock, as in the samples.
        ended: end on the same clock.
        indexes: NVML's index by TensorFlow's name of the device.
    """
    inside = [sample.gpus for sample in samples if began <= sample.seconds <= ended]
    loads = []
    for device, index in indexes.items():
        moments = [gpus[index] for gpus in inside if index < len(gpus)]
        if not moments:
            continue
        settled = [sample.gpus for sample in samples if began + UTILIZATION_SECONDS <= sample.seconds <= ended]
        masks = [moment.clock_event_reasons or 0 for moment in moments]
        loads.append(
            GpuLoad(
                device=device,
                samples=len(moments),
                utilization_percent=_median(gpus[index].utilization_percent for gpus in settled if index < len(gpus)),
                power_watts=_median(moment.power_watts for moment in moments),
                sm_clock_mhz=_median(moment.sm_clock_mhz for moment in moments),
                clock_event_reasons=_names(masks, nvml.reasons),
                slowed_by=_names(masks, nvml.harmful_reasons),
            )
        )
    return tuple(loads)


def _median(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return median(present) if present else None


def _names(masks: list[int], decode: Callable[[int], list[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for mask in masks for name in decode(mask)))


def timeline(samples: list[Sampled], began: float, indexes: dict[str, int]) -> tuple[Sample, ...]:
    """Return the samples of each device since the start, thinned out evenly above ``SAMPLES_MAX``.

    Args:
        samples: as the sampler reports them.
        began: start of the run on the samples' clock.
        indexes: NVML's index by TensorFlow's name of the device.
    """
    every = max(1, math.ceil(len(samples) * len(indexes) / SAMPLES_MAX))
    return tuple(
        Sample(
            seconds=round(sample.seconds - began, 3),
            device=device,
            **{name: getattr(sample.gpus[index], name) for name in READINGS},
        )
        for sample in samples[::every]
        for device, index in indexes.items()
        if index < len(sample.gpus)
    )


def complete(measurements: list[Measurement], price_per_hour: float | None) -> list[Measurement]:
    """Add figures that require several measurements or a price: scaling efficiency and costs."""
    kinds = ("strong", "weak") if one_global_batch(measurements) else ("weak", "strong")
    single = {
        (kind, comparison_key(measurement, kind)): measurement.samples_per_second.median
        for measurement in measurements
        for kind in kinds
        if len(measurement.devices) == 1 and measurement.samples_per_second is not None
    }
    whole = []
    for measurement in measurements:
        speed, count = measurement.samples_per_second, len(measurement.devices)
        kind = next((kind for kind in kinds if (kind, comparison_key(measurement, kind)) in single), None)
        if speed is not None and kind and count > 1:
            efficiency = scaling_efficiency(speed.median, single[kind, comparison_key(measurement, kind)], count)
            measurement = replace(measurement, scaling=kind, scaling_efficiency_percent=100 * efficiency)
        if price_per_hour is not None and measurement.epoch_seconds is not None:
            measurement = replace(measurement, cost_per_epoch=cost(measurement.epoch_seconds.median, price_per_hour))
        if price_per_hour is not None and measurement.seconds_to_target is not None:
            measurement = replace(measurement, cost_to_target=cost(measurement.seconds_to_target.median, price_per_hour))
        whole.append(measurement)
    return whole


def cost(seconds: float, price_per_hour: float) -> float:
    """Return the cost of the machine for that time."""
    return seconds / SECONDS_PER_HOUR * price_per_hour


def one_global_batch(measurements: Iterable[Measurement]) -> bool:
    """Whether different numbers of devices share the same global batches (strong scaling)."""
    measured = [measurement for measurement in measurements if measurement.samples_per_second is not None]
    return len({one.global_batch_size for one in measured}) < len({one.batch_size for one in measured})


def comparison_key(measurement: Measurement, kind: str) -> tuple[str, bool, int, int | None]:
    """Return the settings that must be equal to compare two throughputs, for a kind of scaling."""
    batch = measurement.batch_size if kind == "weak" else measurement.global_batch_size
    return measurement.precision, measurement.xla, measurement.steps_per_execution, batch
