"""Every GPU as NVML describes it: the fake driver, asked by the real child; and children that did not come to the end."""

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
NOBODY = 2**22 + 1  # above the kernel's highest process id


def asked(host):
    with host:
        return gpus.read(host).gpus


@linux
def test_a_healthy_h200_answers_as_recorded(driver_host):
    (answered,) = asked(driver_host())
    recorded = msgspec.convert(machine("h200")["gpus"], gpus.Gpus).gpus[0]
    assert answered.power_watts == pytest.approx(recorded.power_watts, abs=0.1)
    here = {"power_watts": None, "processes_visible": None}  # the second is that of the machine the test runs on
    assert msgspec.structs.replace(answered, **here) == msgspec.structs.replace(recorded, **here)


@linux
def test_processes_that_can_be_seen_or_not(driver_host):
    lines = {"gpus": 2, "gpu.0.processes": f"{os.getpid()}:4096", "gpu.1.processes": f"{NOBODY}:unsupported"}
    here, elsewhere = asked(driver_host(lines))
    comm = pathlib.Path("/proc/self/comm").read_text().strip()
    assert (here.processes, here.processes_visible) == ((GpuProcess(pid=os.getpid(), memory_bytes=4096, name=comm),), True)
    assert (elsewhere.processes, elsewhere.processes_visible) == ((GpuProcess(pid=NOBODY),), False)


@linux
def test_another_pynvml_lacks_functions_and_takes_other_arguments(driver_host, tmp_path):
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


def test_without_the_library_pynvml_is_not_even_imported(tmp_path):
    (tmp_path / "pynvml.py").write_text("raise SystemError('imported')")
    with LocalHost(Request(), env={}) as host:
        child = host.child(NvmlTask(str(tmp_path)))
        ending, loaded = child.end(), child.message(LibraryLoaded)
    if loaded.status == "loaded":
        pytest.skip("this machine has an NVIDIA driver")
    assert (ending.ok, loaded.status) == (True, "library-not-found")


@linux
def test_a_pynvml_that_does_not_import_is_our_problem_not_the_drivers(driver_host, tmp_path):
    (tmp_path / "pynvml.py").write_text("raise SystemError('imported')")
    with driver_host() as host:
        host.library_folder = lambda module: str(tmp_path)
        with pytest.raises(RuntimeError, match="could not be queried: SystemError: imported"):
            gpus.read(host)


@linux
def test_a_truncated_library_is_distinguished_from_a_missing_one(driver_folder, tmp_path):
    whole = (driver_folder / "libnvidia-ml.so.1").read_bytes()
    (tmp_path / "libnvidia-ml.so.1").write_bytes(whole[: len(whole) // 3])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    with LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)) as host:
        child = host.child(NvmlTask(host.library_folder("pynvml")))
        ending, loaded = child.end(), child.message(LibraryLoaded)
    if ending.ok:  # some loaders notice, others fault
        assert loaded.status == "library-unusable"
    else:
        assert (str(ending.stage), ending.how in ("killed by SIGBUS", "killed by SIGSEGV")) == ("load", True)
