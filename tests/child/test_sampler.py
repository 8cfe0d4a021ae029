"""The sampler, on the fake driver."""

import sys
import time

import pytest
from case_files import table
from lab import fake_driver

from gpucheck.core.child.messages.drivers import GpuSample, Sampled, SamplerStarted, SamplerTask, StopSampling
from gpucheck.core.host import sampler
from gpucheck.core.probes import driver

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or fake_driver.COMPILER is None, reason="the fake driver is built for Linux, by a C compiler"
)


def sampled(host):
    with host:
        child = host.child(SamplerTask(host.library_folder("pynvml")), limit=10.0)
        child.wait_for(Sampled, "1")
        child.send(StopSampling())
        assert child.end().ok
        return child.message(SamplerStarted).problem, sampler.samples(child)


def test_every_gpu_is_sampled_several_times_a_second(driver_host):
    scenario = {
        "gpus": 2,
        "gpu.*.utilization_percent": 97,
        "gpu.*.power_milliwatts": 410000,
        "gpu.*.sm_clock_mhz": 1980,
        "gpu.1.clock_event_reasons": 0x44,
    }
    began = time.monotonic()
    problem, samples = sampled(driver_host(scenario))
    assert problem is None
    assert len(samples) >= 2
    for sample in samples:
        assert sample.gpus == (GpuSample(97, 410.0, 1980, 1, 39), GpuSample(97, 410.0, 1980, 0x44, 39))
    assert began <= samples[0].seconds < samples[1].seconds <= time.monotonic()  # same clock as in this process


@table
def test_unreported_values_of_a_gpu_are_unknown(driver_host, lines, expected):
    _, samples = sampled(driver_host({"gpus": 1, **lines}))
    assert (samples[0].gpus[0].lost, samples[0].gpus[0].clock_event_reasons) == expected


def test_sampler_fails_without_nvml(driver_host):
    with driver_host({"nvmlInit_v2": 9}) as host, pytest.raises(RuntimeError, match="NVML: Driver Not Loaded"):
        sampler.start(host)


@pytest.mark.slow  # NVML starts twice, each time for longer than its usual limit of 15 seconds
def test_sampler_waits_for_a_driver_known_to_be_slow(driver_host):
    with driver_host({"gpus": 8, "gpu.*.nvmlDeviceGetHandleByIndex_v2": "slow:2"}, timeout_seconds=120.0) as host:
        assert driver.read(host).gpu_count == 8
        started = sampler.start(host).message(SamplerStarted)
    assert (started.problem, len(started.uuids)) == (None, 8)
