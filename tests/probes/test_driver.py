import os
import signal
import sys
import time

import msgspec
import pytest
from fakes import machine
from lab import fake_driver

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes import driver, gpus

linux = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")


@linux
def test_a_healthy_h200(driver_host, driver_folder):
    with driver_host() as host:
        fact = msgspec.to_builtins(driver.read(host))
    assert fact == {**machine("h200")["driver"], "library": str(driver_folder / "libnvidia-ml.so.1")}


@linux
def test_driver_and_gpus_share_one_child(driver_host):
    with driver_host({"gpus": 2}) as host:
        assert driver.read(host).gpu_count == len(gpus.read(host).gpus) == 2
        assert len(host.started.processes) == 1


@linux
@pytest.mark.parametrize(
    ("function", "code", "name", "words"),
    [
        ("nvmlInit_v2", 9, "NVML_ERROR_DRIVER_NOT_LOADED", "Driver Not Loaded"),
        ("nvmlInit_v2", 18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "RM has detected an NVML/RM version mismatch."),
        ("nvmlInit_v2", 28, "NVML_ERROR_GPU_NOT_FOUND", "fake result 28"),
        ("nvmlInit_v2", 777, None, "fake result 777"),
        ("nvmlDeviceGetCount_v2", 999, "NVML_ERROR_UNKNOWN", "Unknown Error"),
    ],
)
def test_nvml_fails_with_a_code(driver_host, function, code, name, words):
    with driver_host({function: code}) as host:
        fact = driver.read(host)
    assert (fact.status, fact.result, fact.result_name, fact.problem) == ("failed", code, name, words)
    assert fact.library
    assert fact.version == ("580.159.04" if "Count" in function else None)


@linux
def test_a_lost_gpu_is_not_a_failed_driver(driver_host):
    with driver_host({"gpus": 2, "gpu.1.lost": 1}) as host:
        fact = driver.read(host)
    assert (fact.status, fact.result, fact.gpu_count) == ("ok", None, 2)


@linux
def test_the_library_is_truncated(driver_folder, tmp_path):
    library = tmp_path / "libnvidia-ml.so.1"
    library.write_bytes((driver_folder / library.name).read_bytes()[:40])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)) as host:
        fact = driver.read(host)
    assert (fact.status, fact.library) == ("library-unusable", str(library))
    assert "file too short" in (fact.problem or "")


@linux
@pytest.mark.parametrize(
    ("deed", "problem"),
    [
        ("segv", "the process that asked was killed by SIGSEGV in nvmlInit"),
        (
            "abort",
            "the process that asked was killed by SIGABRT in nvmlInit; its last words: fake driver: assertion failed, aborting",
        ),
        ("exit:4", "the process that asked exited with status 4 in nvmlInit"),
        ("exit:0", "the process that asked ended without a word in nvmlInit"),
    ],
)
def test_nvml_takes_the_child_with_it(driver_host, deed, problem):
    with driver_host({"nvmlInit_v2": deed}) as host:
        fact = driver.read(host)
    assert (fact.status, fact.problem) == ("crashed", problem)
    assert fact.library


@linux
def test_nvml_hangs_and_is_stopped_in_time(driver_host):
    started = time.monotonic()
    with driver_host({"nvmlInit_v2": "hang"}, timeout_seconds=7.0) as host:
        fact = driver.read(host)
        assert host.remaining() > 0  # the fact was there before the run's time was up
        (process,) = host.started.processes
    assert time.monotonic() - started < 7
    assert (fact.status, fact.problem) == ("hung", "no answer within 4.4 s in nvmlInit")
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    assert process.returncode == -signal.SIGKILL


@linux
def test_slow_is_not_hung(driver_host):
    with driver_host({"nvmlInit_v2": "slow:0.5"}) as host:
        assert driver.read(host).status == "ok"
