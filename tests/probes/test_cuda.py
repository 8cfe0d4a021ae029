import os
import sys

import msgspec
import pytest
from fakes import machine
from lab import fake_driver

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes import cuda
from gpucheck.probes.cuda import CudaDevice

linux = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")


@linux
def test_a_healthy_h200(driver_host, driver_folder):
    with driver_host() as host:
        fact = cuda.read(host)
    recorded = msgspec.convert(machine("h200")["cuda"], cuda.Cuda)
    assert fact == msgspec.structs.replace(recorded, library=str(driver_folder / "libcuda.so.1"))


@linux
def test_eight_devices_in_the_order_the_user_chose(driver_host):
    with driver_host({"gpus": 8, "gpu.1.pci_address": "0001:E1:00"}, CUDA_VISIBLE_DEVICES="1,0") as host:
        fact = cuda.read(host)
    assert fact.device_count == 2
    assert [(device.ordinal, device.pci_address) for device in fact.devices] == [
        (0, "0001:e1:00.0"),
        (1, "0000:00:06.0"),
    ]


@linux
@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        ({}, None),
        ({"gpus": 2}, ()),
        ({"gpus": 3, "gpu.1.peer_access": 0}, ((0, 1), (1, 0), (1, 2), (2, 1))),
        ({"gpus": 2, "cuDeviceCanAccessPeer": 999}, None),
    ],
)
def test_devices_that_can_not_access_each_other(driver_host, lines, missing):
    with driver_host(lines) as host:
        assert cuda.read(host).peers_missing == missing


@linux
def test_the_users_choice_of_devices_counts(driver_host):
    with driver_host({"gpus": 4}, CUDA_VISIBLE_DEVICES="3,1,99,0") as host:
        assert [device.pci_address for device in cuda.read(host).devices] == ["0000:00:09.0", "0000:00:07.0"]
    for hidden in ("", "-1"):
        with driver_host(CUDA_VISIBLE_DEVICES=hidden) as host:
            assert cuda.read(host).result == 100


@linux
def test_what_a_device_does_not_answer_is_unknown(driver_host):
    refusing = ("cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDeviceGetPCIBusId")
    lines = {f"gpu.0.{function}": 999 for function in refusing}
    with driver_host({**lines, "gpu.0.name": r"\xff", "gpus": 2, "gpu.1.cuDeviceGet": 101}) as host:
        assert cuda.read(host).devices == (CudaDevice(ordinal=0, name="\ufffd"), CudaDevice(ordinal=1))


@linux
@pytest.mark.parametrize(
    ("lines", "result", "name", "version"),
    [
        ({"cuInit": 999}, 999, "CUDA_ERROR_UNKNOWN", "13.0"),
        ({"cuInit": 100, "cuda_version": 12040}, 100, "CUDA_ERROR_NO_DEVICE", "12.4"),
        ({"cuInit": 34, "cuDriverGetVersion": 34}, 34, "CUDA_ERROR_STUB_LIBRARY", None),
        ({"cuDeviceGetCount": 101}, 101, "CUDA_ERROR_INVALID_DEVICE", "13.0"),
        ({"cuInit": 4321}, 4321, None, "13.0"),
    ],
)
def test_cuda_fails_with_a_code(driver_host, lines, result, name, version):
    with driver_host(lines) as host:
        fact = cuda.read(host)
    assert (fact.status, fact.result, fact.result_name) == ("failed", result, name)
    assert fact.driver_version == version
    assert fact.device_count is None
    assert fact.devices == ()


@linux
def test_the_library_is_truncated(driver_folder, tmp_path):
    (tmp_path / "libcuda.so.1").write_bytes((driver_folder / "libcuda.so.1").read_bytes()[:40])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)) as host:
        fact = cuda.read(host)
    assert (fact.status, fact.library) == ("library-unusable", str(tmp_path / "libcuda.so.1"))


@linux
@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ({"cuInit": "segv"}, "the process that asked was killed by SIGSEGV in cuInit"),
        ({"cuDriverGetVersion": "segv"}, "the process that asked was killed by SIGSEGV in cuDriverGetVersion"),
        (
            {"gpu.0.cuDeviceGetName": "bus"},
            "the process that asked was killed by SIGBUS while CUDA was asked about the devices",
        ),
    ],
)
def test_cuda_takes_the_child_with_it(driver_host, lines, problem):
    with driver_host(lines) as host:
        fact = cuda.read(host)
    assert (fact.status, fact.problem) == ("crashed", problem)


@linux
def test_cuda_hangs_and_is_stopped_in_time(driver_host):
    with driver_host({"cuInit": "hang"}, timeout_seconds=7.0) as host:
        fact = cuda.read(host)
        assert host.remaining() > 0
        (process,) = host.started.processes
    assert (fact.status, fact.problem, fact.driver_version) == ("hung", "no answer within 4.4 s in cuInit", "13.0")
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
