"""What GPUs do while training runs, out of the sampler's account."""

from dataclasses import replace

import pytest
from fakes import FakeChild, FakeHost

from gpucheck.child.messages.drivers import LibraryLoaded
from gpucheck.child.messages.nvml import Gpu, GpuRead, GpuSample, Sampled, SamplerStarted, StopSampling
from gpucheck.model import Request
from gpucheck.probes import activity
from gpucheck.probes.activity import Activity, GpuActivity

NVML = (LibraryLoaded("loaded"), *((str(index), GpuRead(Gpu(index))) for index in (0, 1)))
REST = GpuSample(0, 80.0, 345, 0x1)
HOT = GpuSample(99, 500.0, 1200, 0x24)
AT_LIMIT = replace(HOT, sm_clock_mhz=1700, clock_event_reasons=0x4)


def read(*moments, problem=None, nvml=NVML):
    samples = [(str(number), Sampled(number / 5, gpus)) for number, gpus in enumerate(moments)]
    sampler = FakeChild(SamplerStarted(problem), *samples)
    host = FakeHost(
        children={"nvml": FakeChild(*nvml), "sampler": sampler, "framework": FakeChild()}, request=Request(backend="tensorflow")
    )
    return activity.read(host), sampler.sent


def test_what_held_the_clock_down_and_how_often():
    warmer = replace(HOT, sm_clock_mhz=1300)
    made, sent = read((REST, REST), (HOT, AT_LIMIT), (warmer, AT_LIMIT), (HOT, GpuSample(lost=True)))
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
    assert sent == [StopSampling()]


def test_what_nvml_does_not_say_is_not_known():
    made, _ = read((GpuSample(), REST))
    assert made.gpus[0] == GpuActivity(index=0, samples=1)


def test_no_gpu_is_no_sampling():
    assert read(nvml=NVML[:1]) == (Activity(), [])


def test_nvml_that_can_t_be_asked():
    with pytest.raises(RuntimeError, match="NVML: Driver Not Loaded"):
        read(problem="Driver Not Loaded")
