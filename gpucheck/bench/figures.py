"""Arithmetic: from raw seconds to figures, and from figures to what follows from them. Nothing is filled in."""

import math
from collections.abc import Callable
from statistics import median
from typing import Any

from msgspec.structs import replace

from gpucheck.bench.model import GpuLoad, Measurement, Sample, Spread, Traced
from gpucheck.compat import nvml

LEAST_REPEATS = 3
MOST_SAMPLES = 2000  # kept in a result
LOAD = ("utilization_percent", "power_watts", "sm_clock_mhz")
SECONDS_PER_HOUR = 3600


def spread(values: list[float]) -> Spread:
    """Median and ends of at least one value."""
    return Spread(median=median(values), minimum=min(values), maximum=max(values), values=tuple(values))


def measurement(item: dict[str, Any], raw: dict[str, Any] | None, reason: str | None = None) -> Measurement:
    """One configuration.

    Args:
        item: as planned.
        raw: what the child said of it (``gpucheck/child/bench.py``); None: nothing.
        reason: why there is no ``raw``.
    """
    base = Measurement(
        strategy=item["strategy"],
        devices=tuple(item["device_names"]),
        precision=item["precision"],
        xla=item["xla"],
        batch_size=item["batch_size"],
        status="not-measured",
        reason=reason,
    )
    if raw is None:
        return base
    if raw["problem"]:
        return replace(base, status="failed", reason=raw["problem"])
    steps, batch = raw["steps"], raw["global_batch_size"]
    epochs = [one["epoch_seconds"] for one in raw["repeats"]]
    per_step = [median(seconds) / steps for seconds in epochs]
    resident = [one["device_seconds"] / steps for one in raw["repeats"]]
    accuracies = [one["accuracies"][-1] for one in raw["repeats"] if one["accuracies"]]
    to_target = [one["seconds_to_target"] for one in raw["repeats"]]
    profile = raw.get("profile") or {}
    return replace(
        base,
        status="measured",
        replicas=raw["replicas"],
        global_batch_size=batch,
        steps=steps,
        repeats=len(epochs),
        epochs=tuple(len(seconds) for seconds in epochs),
        first_step_seconds=raw["first_step_seconds"],
        warmup_seconds=raw["warmup_seconds"],
        warmup_steps=raw["warmup_steps"],
        samples_per_second=spread([batch / seconds for seconds in per_step]),
        step_seconds=spread(per_step),
        epoch_seconds=spread([median(seconds) for seconds in epochs]),
        device_samples_per_second=spread([batch / seconds for seconds in resident]),
        device_step_seconds=spread(resident),
        input_wait_share=spread([waiting(whole, alone) for whole, alone in zip(per_step, resident, strict=True)]),
        peak_memory_bytes=raw["peak_memory_bytes"],
        accuracy=spread(accuracies) if accuracies else None,
        seconds_to_target=None if None in to_target else spread(to_target),
        profile=profile["folder"] if profile.get("recorded") else None,
        traced=Traced(**profile["traced"]) if profile.get("traced") else None,
        profile_problem=profile.get("problem"),
    )


def waiting(step_seconds: float, device_step_seconds: float) -> float:
    """Share of a step that is not there without the input pipeline: 0 to 1."""
    return max(0.0, 1 - device_step_seconds / step_seconds) if step_seconds > 0 else 0.0


def efficiency(several: float, one: float, devices: int) -> float:
    """Scaling efficiency in percent: throughput of several devices over that of one times their number."""
    return several / (one * devices) * 100


def load(samples: list[dict[str, Any]], began: float, ended: float, indexes: dict[str, int]) -> tuple[GpuLoad, ...]:
    """What NVML said of each device between two moments.

    Args:
        samples: as the sampler reports them.
        began: on the monotonic clock, like ``ended`` and the samples' ``at``.
        ended: the end.
        indexes: NVML's index by TensorFlow's name of the device.
    """
    inside = [one["gpus"] for one in samples if began <= one["at"] <= ended]
    loads = []
    for device, index in indexes.items():
        seen = [gpus[index] for gpus in inside if index < len(gpus)]
        if not seen:
            continue
        known = {key: [one[key] for one in seen if one.get(key) is not None] for key in LOAD}
        masks = [one.get("clock_event_reasons") or 0 for one in seen]
        loads.append(
            GpuLoad(
                device=device,
                samples=len(seen),
                clock_event_reasons=_names(masks, nvml.reasons),
                slowed_by=_names(masks, nvml.harmful_reasons),
                **{key: median(values) for key, values in known.items() if values},
            )
        )
    return tuple(loads)


def _names(masks: list[int], decode: Callable[[int], list[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for mask in masks for name in decode(mask)))


def timeline(samples: list[dict[str, Any]], began: float, indexes: dict[str, int]) -> tuple[Sample, ...]:
    """The samples of each device from the beginning on; of more than ``MOST_SAMPLES`` every second, third, ... moment.

    Args:
        samples: as the sampler reports them.
        began: when the run began, on the samples' clock.
        indexes: NVML's index by TensorFlow's name of the device.
    """
    every = max(1, math.ceil(len(samples) * len(indexes) / MOST_SAMPLES))
    return tuple(
        Sample(seconds=round(one["at"] - began, 3), device=device, **{key: one["gpus"][index].get(key) for key in LOAD})
        for one in samples[::every]
        for device, index in indexes.items()
        if index < len(one["gpus"])
    )


def complete(found: list[Measurement], price_per_hour: float | None) -> list[Measurement]:
    """Add what takes several measurements or a price: scaling efficiency and costs."""
    single = {
        _likeness(one): one.samples_per_second.median
        for one in found
        if len(one.devices) == 1 and one.samples_per_second is not None
    }
    whole = []
    for one in found:
        speed, alone = one.samples_per_second, single.get(_likeness(one))
        if speed is not None and alone and len(one.devices) > 1:
            one = replace(one, scaling_efficiency_percent=efficiency(speed.median, alone, len(one.devices)))
        if price_per_hour is not None and one.epoch_seconds is not None:
            one = replace(one, cost_per_epoch=cost(one.epoch_seconds.median, price_per_hour))
        if price_per_hour is not None and one.seconds_to_target is not None:
            one = replace(one, cost_to_target=cost(one.seconds_to_target.median, price_per_hour))
        whole.append(one)
    return whole


def cost(seconds: float, price_per_hour: float) -> float:
    """What the machine costs for that time."""
    return seconds / SECONDS_PER_HOUR * price_per_hour


def _likeness(one: Measurement) -> tuple[Any, ...]:
    """What must be the same for two throughputs to be compared."""
    return one.precision, one.xla, one.batch_size
