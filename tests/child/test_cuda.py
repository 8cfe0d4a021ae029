import json
import os
import subprocess
import sys

import pytest
from lab import fake_driver

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")


def ask(host):
    """The child's stages and how it ended; nothing of it may be left."""
    with host:
        child = host.child("cuda", limit=10.0)
        ending, stages = child.end(), child.stages()
        (process,) = host._processes
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    return stages, ending


def test_a_healthy_h200(driver_host, driver_folder):
    stages, ending = ask(driver_host())
    assert ending.ok
    assert stages["load"] == {"status": "loaded", "library": str(driver_folder / "libcuda.so.1")}
    assert stages["version"] == 13000
    assert stages["init"] == {}
    assert stages["count"] == {"count": 1}
    assert stages["devices"] == [
        {
            "ordinal": 0,
            "name": "NVIDIA H200",
            "pci_address": "0000:00:06.0",
            "compute_capability": [9, 0],
            "memory_total_bytes": 150109880320,
            "multiprocessors": 132,
        }
    ]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (100, "CUDA_ERROR_NO_DEVICE"),
        (802, "CUDA_ERROR_SYSTEM_NOT_READY"),
        (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        (999, "CUDA_ERROR_UNKNOWN"),
    ],
)
def test_init_fails_with_a_code(driver_host, code, name):
    stages, ending = ask(driver_host({"cuInit": code}))
    assert ending.ok
    assert stages["init"] == {"result": code, "result_name": name, "problem": name}
    assert "count" not in stages


def test_a_code_without_a_name(driver_host):
    stages, _ = ask(driver_host({"cuInit": 4321}))
    assert stages["init"] == {"result": 4321, "result_name": None, "problem": "CUDA result 4321"}


def test_a_count_that_fails(driver_host):
    stages, _ = ask(driver_host({"cuDeviceGetCount": 3}))
    assert stages["count"]["result_name"] == "CUDA_ERROR_NOT_INITIALIZED"
    assert stages["count"]["count"] is None


def test_the_users_choice_of_devices_counts(driver_host):
    stages, _ = ask(driver_host({"gpus": 4}, CUDA_VISIBLE_DEVICES="3,1,99,0"))
    assert [device["pci_address"] for device in stages["devices"]] == ["0000:00:09.0", "0000:00:07.0"]


@pytest.mark.parametrize(
    ("lines", "strangers"),
    [
        ({"gpus": 2}, []),
        ({"gpus": 3, "gpu.1.peer_access": 0}, [[0, 1], [1, 0], [1, 2], [2, 1]]),
        ({"gpus": 2, "cuDeviceCanAccessPeer": 999}, None),
    ],
)
def test_who_can_access_whose_memory(driver_host, lines, strangers):
    assert ask(driver_host(lines))[0]["peers"] == strangers


def test_one_device_has_no_peer(driver_host):
    assert "peers" not in ask(driver_host())[0]


@pytest.mark.parametrize("value", ["", "-1"])
def test_all_devices_hidden(driver_host, value):
    stages, _ = ask(driver_host(CUDA_VISIBLE_DEVICES=value))
    assert stages["init"]["result"] == 100


def test_what_a_device_does_not_answer_is_unknown(driver_host):
    refusing = ("cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDeviceGetPCIBusId")
    lines = {f"gpu.0.{function}": 999 for function in refusing}
    stages, _ = ask(driver_host({**lines, "gpu.0.name": r"\xff", "gpus": 2, "gpu.1.cuDeviceGet": 101}))
    assert stages["devices"] == [
        {
            "ordinal": 0,
            "name": "\ufffd",
            "pci_address": None,
            "compute_capability": None,
            "memory_total_bytes": None,
            "multiprocessors": None,
        },
        {"ordinal": 1},
    ]


@pytest.mark.parametrize(
    ("deed", "how"),
    [("segv", "killed by SIGSEGV"), ("abort", "killed by SIGABRT"), ("exit:3", "exited with status 3")],
)
def test_a_crash_in_init_tells_where(driver_host, deed, how):
    stages, ending = ask(driver_host({"cuInit": deed}))
    assert (ending.ok, ending.how, ending.stage) == (False, how, "init")
    assert stages["version"] == 13000


MEMORY = """
import ctypes, json, sys
from gpucheck.child import cuda
driver = ctypes.CDLL("libcuda.so.1")
driver.cuInit(0)
print(json.dumps(cuda.memory(driver, int(sys.argv[1]))))
"""


def memory(driver_folder, tmp_path, lines, ordinal=0):
    """What a process that uses a device is told of its memory."""
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", lines)
    argv = [sys.executable, "-c", MEMORY, str(ordinal)]
    env = {**os.environ, **fake_driver.environment(driver_folder, scenario)}
    return json.loads(subprocess.run(argv, env=env, capture_output=True, check=True, timeout=60).stdout)


def test_what_is_free_of_a_device(driver_folder, tmp_path):
    lines = {"gpu.0.memory_total_bytes": 1000, "gpu.0.memory_reserved_bytes": 100, "gpu.0.memory_used_bytes": 300}
    assert memory(driver_folder, tmp_path, lines) == [600, 900]


@pytest.mark.parametrize("function", ["cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuMemGetInfo_v2"])
def test_memory_that_is_not_told(driver_folder, tmp_path, function):
    assert memory(driver_folder, tmp_path, {function: 2}) is None


def test_memory_of_a_device_that_is_not_there(driver_folder, tmp_path):
    assert memory(driver_folder, tmp_path, {}, ordinal=1) is None
