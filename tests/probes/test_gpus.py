"""Every GPU as NVML describes it: the fake driver, asked by the real child; and children that did not come to the end."""

import dataclasses
import os
import pathlib
import sys

import msgspec
import pytest
from fakes import FakeChild, FakeHost, machine
from lab import fake_driver

from gpucheck.child.messages import nvml
from gpucheck.child.messages.cuda import CudaDevice as CudaAnswer
from gpucheck.child.messages.drivers import LibraryLoaded
from gpucheck.child.messages.frameworks import Device as DeviceAnswer
from gpucheck.child.messages.nvml import NvmlTask
from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes import gpus
from gpucheck.probes.cuda import CudaDevice
from gpucheck.probes.gpus import Gpu, GpuProcess
from gpucheck.probes.tensorflow import Device

linux = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
LOADED = LibraryLoaded("loaded")
NOBODY = 2**22 + 1  # above the kernel's highest process id


def read(child):
    return gpus.read(FakeHost(children={"nvml": child})).gpus


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


FIELDS = [
    ("name", "Tesla K80", "name", "Tesla K80"),
    ("name", r"A\xff\xfe100", "name", "A\ufffd\ufffd100"),
    ("uuid", r"\xff", "uuid", "\ufffd"),
    ("pci_address", "0001:E1:00", "pci_address", "0001:e1:00.0"),
    ("pci_address", "10000:01:00", "pci_address", "10000:01:00.0"),
    ("minor", 7, "minor", 7),
    ("compute_capability", "12.0", "compute_capability", (12, 0)),
    ("memory_used_bytes", 1 << 30, "memory_used_bytes", 1 << 30),
    ("memory_reserved_bytes", 0, "memory_free_bytes", 150754820096),
    ("ecc_enabled", 0, "ecc_enabled", False),
    ("ecc_enabled", "unsupported", "ecc_enabled", None),
    ("ecc_uncorrected", 3, "ecc_uncorrected_volatile", 3),
    ("ecc_uncorrected_aggregate", 4, "ecc_uncorrected_aggregate", 4),
    ("retired_pages_pending", 1, "retired_pages_pending", True),
    ("remapped_rows_uncorrectable", 2, "remapped_rows_uncorrectable", 2),
    ("remapping_pending", 1, "remapping_pending", True),
    ("remapping_failed", 1, "remapping_failed", True),
    ("remapped_rows", 0, "remapping_failed", None),
    ("temperature_celsius", 91, "temperature_celsius", 91),
    ("temperature_slowdown_celsius", 95, "temperature_slowdown_celsius", 95),
    ("power_limit_milliwatts", 350000, "power_limit_watts", 350.0),
    ("power_milliwatts", "0xffffffff", "power_watts", None),
    ("clock_event_reasons", "0x48", "clock_event_reasons", 0x48),
    ("sm_clock_max_mhz", 1410, "sm_clock_max_mhz", 1410),
    ("utilization_percent", 99, "utilization_percent", 99),
    ("pcie_generation", 1, "pcie_generation", 1),
    ("pcie_generation_max", 4, "pcie_generation_max", 4),
    ("pcie_width", 4, "pcie_width", 4),
    ("pcie_width_max", 8, "pcie_width_max", 8),
    ("persistence_mode", 0, "persistence_mode", False),
    ("compute_mode", 3, "compute_mode", "exclusive-process"),
    ("compute_mode", 9, "compute_mode", None),
    ("mig_enabled", "unsupported", "mig_enabled", None),
    ("fabric_state", 2, "fabric_state", "in-progress"),
    ("fabric_state", 200, "fabric_state", None),
    ("fabric_status", 27, "fabric_status", 27),
]


@linux
def test_every_field_is_what_nvml_says(driver_host):
    """One GPU per case, sixteen asked by one child."""
    answered = []
    for first in range(0, len(FIELDS), 16):
        cases = FIELDS[first : first + 16]
        lines = {f"gpu.{number}.{line}": value for number, (line, value, _, _) in enumerate(cases)}
        answered += asked(driver_host({"gpus": len(cases), **lines}))
    found = [getattr(gpu, field) for gpu, (_, _, field, _) in zip(answered, FIELDS, strict=True)]
    assert found == [expected for *_, expected in FIELDS]
    assert {gpu.problem for gpu in answered} == {None}


@linux
def test_what_there_are_several_of(driver_host):
    """MIG devices; links that are down, not there or without an answer; processes that can be seen or not."""
    answered = asked(
        driver_host(
            {
                "gpus": 6,
                "gpu.0.mig_enabled": 1,
                "gpu.0.mig_devices": 3,
                "gpu.1.mig_enabled": 1,
                "gpu.2.nvlinks": 18,
                "gpu.2.nvlinks_down": "3,17",
                "gpu.3.nvlinks": 4,
                "gpu.3.nvlinks_unsupported": "1",
                "gpu.4.processes": f"{os.getpid()}:4096",
                "gpu.5.processes": f"{NOBODY}:unsupported",
            }
        )
    )
    assert [(gpu.mig_enabled, gpu.mig_devices) for gpu in answered[:2]] == [(True, 3), (True, 0)]
    assert (len(answered[2].nvlinks), [link.link for link in answered[2].nvlinks if not link.active]) == (18, [3, 17])
    assert [link.link for link in answered[3].nvlinks] == [0, 2, 3]
    comm = pathlib.Path("/proc/self/comm").read_text().strip()
    assert (answered[4].processes, answered[4].processes_visible) == (
        (GpuProcess(pid=os.getpid(), memory_bytes=4096, name=comm),),
        True,
    )
    assert (answered[5].processes, answered[5].processes_visible) == ((GpuProcess(pid=NOBODY),), False)


@linux
@pytest.mark.parametrize("code", [2, 13, 999])
def test_a_query_that_is_refused_is_no_fault(driver_host, code):
    (gpu,) = asked(driver_host({"nvmlDeviceGetEccMode": code, "nvmlDeviceGetPciInfo_v3": code}))
    assert (gpu.ecc_enabled, gpu.pci_address, gpu.temperature_celsius, gpu.problem) == (None, None, 39, None)


@linux
def test_an_older_driver_answers_the_older_question(driver_host):
    newer = ("nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetPowerManagementLimit")
    (gpu,) = asked(driver_host(dict.fromkeys(newer, 13)))
    assert gpu.memory_used_bytes == 644939776  # the older form counts the reserve as used
    assert (gpu.clock_event_reasons, gpu.power_limit_watts) == (1, 700.0)


@linux
def test_lost_gpus_are_told_from_the_others(driver_host):
    answered = asked(driver_host({"gpus": 8, "gpu.3.lost": 1}))
    assert answered[3] == Gpu(index=3, problem="GPU is lost", result=15)
    assert [gpu.uuid[-1] for gpu in answered if gpu.index != 3] == list("0124567")
    (gpu,) = asked(driver_host({"nvmlDeviceGetName": 16}))  # it goes while it is asked
    assert (gpu.result, gpu.pci_address, gpu.temperature_celsius) == (16, "0000:00:06.0", None)


@linux
def test_a_crash_keeps_what_was_read_before(driver_host):
    answered = asked(driver_host({"gpus": 3, "gpu.1.nvmlDeviceGetPowerUsage": "segv"}))
    assert [gpu.index for gpu in answered] == [0, 1]
    assert answered[1].problem == "the process that asked was killed by SIGSEGV while NVML was asked about GPU 1"


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
del nvmlDeviceGetMigMode, nvmlDeviceGetCurrentClocksEventReasons, c_nvmlGpuFabricInfoV_t, NVML_NVLINK_MAX_LINKS
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
        with pytest.raises(RuntimeError, match="could not be asked: SystemError: imported"):
            gpus.read(host)


@linux
def test_a_library_cut_in_the_middle_is_told_from_a_missing_one(driver_folder, tmp_path):
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


@linux
def test_a_refusing_nvml_counts_none(driver_host):
    assert asked(driver_host({"nvmlInit_v2": 9})) == ()
    assert read(FakeChild(LibraryLoaded("library-not-found", problem="..."))) == ()


def test_the_fact_has_every_field_that_the_child_reports():
    for answer, fact in (
        (nvml.Gpu, Gpu),
        (nvml.GpuProcess, GpuProcess),
        (nvml.NvLink, gpus.NvLink),
        (CudaAnswer, CudaDevice),
        (DeviceAnswer, Device),
    ):
        assert {field.name for field in dataclasses.fields(answer)} <= set(fact.__struct_fields__), fact
