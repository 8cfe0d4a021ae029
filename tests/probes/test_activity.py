"""What GPUs do while training runs, out of the sampler's account."""

import pytest
from fakes import FakeChild, FakeHost, machine

from gpucheck.model import Request
from gpucheck.probes import activity
from gpucheck.probes.activity import Activity, GpuActivity

NVML = {
    "nvml": {"status": "loaded"},
    "system": {},
    "count": 2,
    **{f"gpu {n}": {**machine("h200")["gpus"]["gpus"][0], "index": n} for n in (0, 1)},
}
REST = {"utilization_percent": 0, "power_watts": 80.0, "sm_clock_mhz": 345, "clock_event_reasons": 0x1}
HOT = {"utilization_percent": 99, "power_watts": 500.0, "sm_clock_mhz": 1200, "clock_event_reasons": 0x24}
AT_LIMIT = {**HOT, "sm_clock_mhz": 1700, "clock_event_reasons": 0x4}


def read(*moments, problem=None, nvml=NVML):
    stages = {"start": {"problem": problem}, **{f"sample {n}": {"at": n / 5, "gpus": gpus} for n, gpus in enumerate(moments)}}
    sampler = FakeChild(stages)
    host = FakeHost(
        children={"nvml": FakeChild(nvml), "sampler": sampler, "framework": FakeChild()}, request=Request(backend="tensorflow")
    )
    return activity.read(host), sampler.told


def test_what_held_the_clock_down_and_how_often():
    made, told = read([REST, REST], [HOT, AT_LIMIT], [{**HOT, "sm_clock_mhz": 1300}, AT_LIMIT], [HOT, {}])
    assert made == Activity(
        gpus=(
            GpuActivity(
                index=0,
                samples=4,
                utilization_percent=99,
                slowed_samples=3,
                slowed_by=("SwThermalSlowdown",),
                slowed_sm_clock_mhz=1200,
            ),
            GpuActivity(index=1, samples=3, utilization_percent=99, slowed_samples=0),  # one that was lost says nothing more
        )
    )
    assert told == ["stop"]


def test_what_nvml_does_not_say_is_not_known():
    made, _ = read([dict.fromkeys(REST), REST])
    assert made.gpus[0] == GpuActivity(index=0, samples=1)


def test_no_gpu_is_no_sampling():
    assert read(nvml={"nvml": {"status": "loaded"}, "system": {}, "count": 0}) == (Activity(), [])


def test_nvml_that_can_t_be_asked():
    with pytest.raises(RuntimeError, match="NVML: Driver Not Loaded"):
        read(problem="Driver Not Loaded")
