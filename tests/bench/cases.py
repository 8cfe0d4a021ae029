"""Fake measurements in the form of the child's messages."""

from gpucheck.commands.bench.figures import complete, measurement
from gpucheck.commands.bench.model import Ask, GpuLoad, Result
from gpucheck.core.child.messages.benchmark import Configuration, Measured, Profile, Repeat, Traced


def raw(seconds=(2.0, 1.0, 4.0), device=(1.0, 1.0, 1.0), accuracy=True, **changes):
    given = {
        "replicas": 1,
        "global_batch_size": 64,
        "steps": 10,
        "first_step_seconds": 5.0,
        "warmup_seconds": 6.0,
        "warmup_steps": 6,
        "peak_memory_bytes": 1 << 30,
        "began": 10.0,
        "ended": 20.0,
        "repeats": [
            Repeat([whole], [0.5] if accuracy else [], None, alone) for whole, alone in zip(seconds, device, strict=True)
        ],
    }
    return Measured(**{**given, **changes})


def names(count, kind="GPU"):
    return tuple(f"{kind}:{number}" for number in range(count))


def one(count=1, batch=64, precision="float32", xla=False, at_once=1, **changes):
    strategy = "one_device" if count == 1 else "mirrored"
    raws = raw(replicas=count, global_batch_size=batch * count, **changes)
    return measurement(Configuration(strategy, names(count), precision, xla, batch, at_once), raws)


def result(measurements=None, ended="finished", ask=None, **changes):
    found = [one(), one(2), one(batch=128), one(2, batch=128)] if measurements is None else measurements
    found = complete(found, (ask or Ask()).price_per_hour)
    return Result(
        tool={"name": "gpucheck", "version": "0"},
        started_at="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        ended=ended,
        versions={"tensorflow": "2.21.0"},
        hardware=("GPU:0 (NVIDIA H200)",),
        ask=ask or Ask(),
        measurements=tuple(found),
        **changes,
    )


LOAD = GpuLoad(device="GPU:0", samples=3, utilization_percent=97.0, power_watts=410.0, sm_clock_mhz=1980.0)
HOT = GpuLoad(
    device="GPU:1",
    samples=3,
    sm_clock_mhz=990.0,
    clock_event_reasons=("SwPowerCap", "HwThermalSlowdown"),
    slowed_by=("HwThermalSlowdown",),
)
PROFILE = Profile(
    "trace/one", None, True, Traced(steps=10, step_seconds=0.2, device_seconds=0.15, input_seconds=0.04, host_seconds=0.01)
)  # as the child reports it
