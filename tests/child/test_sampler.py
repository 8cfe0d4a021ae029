"""The sampler, on the fake driver."""

import sys
import time

import pytest
from lab import fake_driver

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or fake_driver.COMPILER is None, reason="the fake driver is built for Linux, by a C compiler"
)


def sampled(host):
    with host:
        child = host.child("sampler", host.library_folder("pynvml"), limit=10.0)
        began = time.monotonic()
        child.until("sample 1")
        child.tell("stop")
        assert child.end().ok
        stages = child.stages()
    return stages, [value for stage, value in stages.items() if stage.startswith("sample ")], (began, time.monotonic())


def test_every_gpu_a_few_times_a_second(driver_host):
    scenario = {
        "gpus": 2,
        "gpu.*.utilization_percent": 97,
        "gpu.*.power_milliwatts": 410000,
        "gpu.*.sm_clock_mhz": 1980,
        "gpu.1.clock_event_reasons": 0x44,
    }
    cool = {"utilization_percent": 97, "power_watts": 410.0, "sm_clock_mhz": 1980, "clock_event_reasons": 1}
    stages, samples, (began, ended) = sampled(driver_host(scenario))
    assert stages["start"] == {"problem": None}
    assert len(samples) >= 2
    for sample in samples:
        assert began <= sample["at"] <= ended  # the clock of this process too
        assert sample["gpus"] == [cool, {**cool, "clock_event_reasons": 0x44}]
    assert 0.1 < samples[1]["at"] - samples[0]["at"] < 5


def test_an_older_driver_calls_them_throttle_reasons(driver_host):
    scenario = {"gpus": 1, "nvmlDeviceGetCurrentClocksEventReasons": 13, "gpu.*.clock_event_reasons": 0x20}
    assert sampled(driver_host(scenario))[1][0]["gpus"][0]["clock_event_reasons"] == 0x20


def test_a_lost_gpu_says_nothing(driver_host):
    _, samples, _ = sampled(driver_host({"gpus": 1, "nvmlDeviceGetUtilizationRates": 15}))
    assert samples[0]["gpus"] == [{}]


def test_no_nvml(driver_host):
    stages, samples, _ = sampled(driver_host({"nvmlInit_v2": 9}))
    assert stages["start"]["problem"]
    assert samples == []
