"""Every GPU as NVML describes it: the fake driver, queried by the real child; and children that fail."""

import os
import pathlib
import sys

import msgspec
import pytest
from fakes import machine
from lab import fake_driver

from gpucheck.core.child.messages.drivers import LibraryLoaded, NvmlTask
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import gpus
from gpucheck.core.probes.gpus import GpuProcess

linux = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
UNUSED_PID = 2**22 + 1  # above the kernel's highest process id


def asked(host):
    with host:
        return gpus.read(host).gpus


@linux
def test_healthy_h200_matches_the_recording(driver_host):
    (answered,) = asked(driver_host())
    recorded = msgspec.convert(machine("h200")["gpus"], gpus.Gpus).gpus[0]
    assert answered.power_watts == pytest.approx(recorded.power_watts, abs=0.1)
    here = {"power_watts": None, "processes_visible": None}  # the second depends on the machine that runs the test
    assert msgspec.structs.replace(answered, **here) == msgspec.structs.replace(recorded, **here)


@linux
def test_processes_are_visible_or_not(driver_host):
    lines = {"gpus": 2, "gpu.0.processes": f"{os.getpid()}:4096", "gpu.1.processes": f"{UNUSED_PID}:unsupported"}
    here, elsewhere = asked(driver_host(lines))
    comm = pathlib.Path("/proc/self/comm").read_text().strip()
    assert (here.processes, here.processes_visible) == ((GpuProcess(pid=os.getpid(), memory_bytes=4096, name=comm),), True)
    assert (elsewhere.processes, elsewhere.processes_visible) == ((GpuProcess(pid=UNUSED_PID),), False)


@linux
def test_other_pynvml_lacks_functions_and_has_other_signatures(driver_host, tmp_path):
    real = LocalHost(Request(), env={}).library_folder("pynvml")
    (tmp_path / "pynvml.py").write_text(
        f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("real", {real + "/pynvml.py"!r})
real = importlib.util.module_from_spec(spec)
sys.modules["real"] = real
spec.loader.exec_module(real)
globals().update({{name: value for name, value in vars(real).items() if not name.startswith("__")}})
del nvmlDeviceGetMigMode, nvmlDeviceGetCurrentClocksEventReasons, c_nvmlGpuFabricInfoV_t, c_nvmlGpuFabricInfo_v3_t, NVML_NVLINK_MAX_LINKS
def nvmlDeviceGetMemoryInfo(handle):
    return real.nvmlDeviceGetMemoryInfo(handle)
def nvmlDeviceGetName(handle):
    raise UnicodeDecodeError("utf-8", b"", 0, 1, "garbage")
"""
    )
    with driver_host() as host:
        host.library_folder = lambda module: str(tmp_path)
        (gpu,) = gpus.read(host).gpus
    assert (gpu.mig_enabled, gpu.name, gpu.clock_event_reasons, gpu.memory_total_bytes) == (None, None, 1, 150754820096)
    assert (gpu.fabric_state, gpu.persistence_mode) == (None, True)


def test_pynvml_is_not_imported_without_the_library(tmp_path):
    (tmp_path / "pynvml.py").write_text("raise SystemError('imported')")
    with LocalHost(Request(), env={}) as host:
        child = host.child(NvmlTask(str(tmp_path)))
        ending, loaded = child.end(), child.message(LibraryLoaded)
    if loaded.status == "loaded":
        pytest.skip("this machine has an NVIDIA driver")
    assert (ending.ok, loaded.status) == (True, "library-not-found")


@linux
def test_failed_import_of_pynvml_is_not_a_fault_of_the_driver(driver_host, tmp_path):
    (tmp_path / "pynvml.py").write_text("raise SystemError('imported')")
    with driver_host() as host:
        host.library_folder = lambda module: str(tmp_path)
        with pytest.raises(RuntimeError, match="could not be queried: SystemError: imported"):
            gpus.read(host)


@linux
def test_truncated_library_is_distinguished_from_a_missing_one(driver_folder, tmp_path):
    whole = (driver_folder / "libnvidia-ml.so.1").read_bytes()
    (tmp_path / "libnvidia-ml.so.1").write_bytes(whole[: len(whole) // 3])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)) as host:
        child = host.child(NvmlTask(host.library_folder("pynvml")))
        ending, loaded = child.end(), child.message(LibraryLoaded)
    if ending.ok:  # some loaders detect it, others crash
        assert loaded.status == "library-unusable"
    else:
        assert (str(ending.stage), ending.how in ("killed by SIGBUS", "killed by SIGSEGV")) == ("load", True)
