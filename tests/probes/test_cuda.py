import os
import re
import sys

import msgspec
import pytest
from fakes import machine
from lab import fake_driver

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import cuda

linux = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")


@linux
def test_fact_of_a_healthy_h200(driver_host, driver_folder):
    with driver_host() as host:
        fact = cuda.read(host)
    recorded = msgspec.convert(machine("h200")["cuda"], cuda.Cuda)
    assert fact == msgspec.structs.replace(recorded, library=str(driver_folder / "libcuda.so.1"))


@linux
def test_truncated_library_is_unusable(driver_folder, tmp_path):
    (tmp_path / "libcuda.so.1").write_bytes((driver_folder / "libcuda.so.1").read_bytes()[:40])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)) as host:
        fact = cuda.read(host)
    assert (fact.status, fact.library) == ("library-unusable", str(tmp_path / "libcuda.so.1"))


@linux
def test_hanging_cuda_is_stopped_in_time(driver_host):
    with driver_host({"cuInit": "hang"}, timeout_seconds=7.0) as host:
        fact = cuda.read(host)
        assert host.remaining() > 0
        process, _ = host.started.processes  # the other one is NVML's, whose time shows how slow the driver is
    assert (fact.status, fact.driver_version) == ("hung", "13.0")
    assert re.fullmatch(r"no response within \d\.\d s in cuInit", fact.problem)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
