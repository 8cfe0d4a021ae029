import os
import re
import signal
import sys
import threading
import time

import msgspec
import pytest
from fakes import machine
from lab import fake_driver

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import cuda, driver, gpus
from gpucheck.core.probes._driver_query import longest_silence

linux = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")


@linux
def test_fact_of_a_healthy_h200(driver_host, driver_folder):
    with driver_host() as host:
        fact = msgspec.to_builtins(driver.read(host))
    assert fact == {**machine("h200")["driver"], "library": str(driver_folder / "libnvidia-ml.so.1")}


@linux
def test_driver_and_gpus_share_one_child(driver_host):
    with driver_host({"gpus": 2}) as host:
        assert driver.read(host).gpu_count == len(gpus.read(host).gpus) == 2
        assert len(host.started.processes) == 1


@linux
def test_truncated_library_is_unusable(driver_folder, tmp_path):
    library = tmp_path / "libnvidia-ml.so.1"
    library.write_bytes((driver_folder / library.name).read_bytes()[:40])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)) as host:
        fact = driver.read(host)
    assert (fact.status, fact.library) == ("library-unusable", str(library))
    assert "file too short" in (fact.problem or "")


SLOW = {"gpus": 8, "gpu.*.nvmlDeviceGetHandleByIndex_v2": "slow:0.7", "cuInit": "slow:5.6"}  # no persistence mode


@linux
def test_many_slow_gpus_are_not_called_hung(driver_host):
    """Each GPU responds within the limit of a call, but all together exceed it; CUDA starts them in one call."""
    with driver_host(SLOW, timeout_seconds=9.0) as host:
        assert longest_silence(host) < 8 * 0.7 + 0.5
        threading.Thread(target=driver.read, args=(host,)).start()
        count, status = cuda.read(host).device_count, driver.read(host).status
    assert (count, status) == (8, "ok")


@linux
def test_gpus_too_slow_for_the_time_limit_are_not_called_hung(driver_host):
    slow = r"while NVML was queried about GPU \d: (the driver is slow, but it responds|too short to blame the driver)"
    with driver_host({**SLOW, "cuInit": "hang"}, timeout_seconds=6.6) as host, pytest.raises(RuntimeError, match=slow):
        driver.read(host)


@linux
def test_hung_gpu_after_slow_ones_is_named(driver_host):
    with driver_host({**SLOW, "gpu.2.nvmlDeviceGetHandleByIndex_v2": "hang"}, timeout_seconds=7.5) as host:
        fact = driver.read(host)
    assert (fact.status, (fact.problem or "").partition(" s ")[2]) == ("hung", "while NVML was queried about GPU 2")


@linux
def test_hanging_nvml_is_stopped_in_time(driver_host):
    started = time.monotonic()
    with driver_host({"nvmlInit_v2": "hang"}, timeout_seconds=7.0) as host:
        fact = driver.read(host)
        assert host.remaining() > 0  # before the end of the run's time
        (process,) = host.started.processes
    assert time.monotonic() - started < 7
    assert fact.status == "hung"
    assert re.fullmatch(r"no response within \d\.\d s in nvmlInit", fact.problem)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    assert process.returncode == -signal.SIGKILL


class WithPynvml(LocalHost):
    """This machine, with a pynvml of that folder."""

    pynvml = ""

    def library_folder(self, module):
        return self.pynvml


@linux
def test_crash_of_pynvml_is_not_a_fault_of_the_driver(driver_folder, tmp_path):
    (tmp_path / "pynvml.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with WithPynvml(Request(), env=fake_driver.environment(driver_folder, scenario)) as host:
        host.pynvml = str(tmp_path)
        with pytest.raises(RuntimeError, match="the driver could not be queried: the child process was killed by SIGSEGV"):
            driver.read(host)
