import os
import signal
import sys
import time

import msgspec
import pytest
from fakes import machine
from lab import fake_driver

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import driver, gpus

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
def test_the_library_is_truncated(driver_folder, tmp_path):
    library = tmp_path / "libnvidia-ml.so.1"
    library.write_bytes((driver_folder / library.name).read_bytes()[:40])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)) as host:
        fact = driver.read(host)
    assert (fact.status, fact.library) == ("library-unusable", str(library))
    assert "file too short" in (fact.problem or "")


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
