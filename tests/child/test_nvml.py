import os
import pathlib
import sys

import pytest
from fakes import machine
from lab import fake_driver

from gpucheck.host.local import LocalHost
from gpucheck.model import Request

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")

NOBODY = 2**22 + 1  # above the kernel's highest process id


def ask(host, folder=None):
    """The child's stages and how it ended; nothing of it may be left."""
    with host:
        child = host.child("nvml", folder or host.library_folder("pynvml"), limit=10.0)
        ending, stages = child.end(), child.stages()
        (process,) = host._processes
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    return stages, ending


def first_gpu(host, folder=None):
    stages, ending = ask(host, folder)
    assert ending.ok, ending
    return stages["gpu 0"]


def test_a_healthy_h200_answers_as_recorded(driver_host, driver_folder):
    stages, ending = ask(driver_host())
    assert ending.ok
    assert list(stages) == ["load", "init", "system", "gpu 0", "shutdown", "done"]
    assert stages["load"]["library"] == str(driver_folder / "libnvidia-ml.so.1")
    assert stages["system"] == {
        "version": "580.159.04",
        "nvml_version": "13.580.159.04",
        "cuda_version": 13000,
        "gpu_count": 1,
    }
    recorded = machine("h200")["gpus"]["gpus"][0]
    answered = stages["gpu 0"]
    assert answered.pop("power_watts") == pytest.approx(recorded.pop("power_watts"), abs=0.1)
    assert answered.pop("processes_visible") in (True, False)  # that of the machine the test runs on
    recorded.pop("processes_visible")
    assert answered == {field: value for field, value in recorded.items() if field in answered}
    assert {field for field, value in recorded.items() if value is not None} <= set(answered)


@pytest.mark.parametrize(
    ("line", "value", "field", "expected"),
    [
        ("name", "Tesla K80", "name", "Tesla K80"),
        ("name", r"A\xff\xfe100", "name", "A\ufffd\ufffd100"),
        ("uuid", r"\xff", "uuid", "\ufffd"),
        ("pci_address", "0001:E1:00", "pci_address", "0001:e1:00.0"),
        ("pci_address", "10000:01:00", "pci_address", "10000:01:00.0"),
        ("minor", 7, "minor", 7),
        ("compute_capability", "12.0", "compute_capability", [12, 0]),
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
    ],
)
def test_every_field_is_what_nvml_says(driver_host, line, value, field, expected):
    answered = first_gpu(driver_host({f"gpu.0.{line}": value}))
    assert answered[field] == expected
    assert "problem" not in answered


def test_mig_devices_are_counted(driver_host):
    answered = first_gpu(driver_host({"gpu.0.mig_enabled": 1, "gpu.0.mig_devices": 3}))
    assert (answered["mig_enabled"], answered["mig_devices"]) == (True, 3)
    answered = first_gpu(driver_host({"gpu.0.mig_enabled": 1}))
    assert (answered["mig_enabled"], answered["mig_devices"]) == (True, 0)


def test_a_link_that_is_down_is_told_from_one_that_is_not_there(driver_host):
    answered = first_gpu(driver_host({"gpu.0.nvlinks": 18, "gpu.0.nvlinks_down": "3,17"}))
    assert len(answered["nvlinks"]) == 18
    assert [link["link"] for link in answered["nvlinks"] if not link["active"]] == [3, 17]


def test_a_link_without_an_answer_ends_no_list(driver_host):
    answered = first_gpu(driver_host({"gpu.0.nvlinks": 4, "gpu.0.nvlinks_unsupported": "1"}))
    assert [link["link"] for link in answered["nvlinks"]] == [0, 2, 3]


def test_processes_are_named_where_they_can_be_seen(driver_host):
    answered = first_gpu(driver_host({"gpu.0.processes": f"{os.getpid()}:4096"}))
    comm = pathlib.Path("/proc/self/comm").read_text().strip()
    assert answered["processes"] == [{"pid": os.getpid(), "memory_bytes": 4096, "name": comm}]
    assert answered["processes_visible"] is True


def test_processes_of_another_namespace_are_not_visible(driver_host):
    answered = first_gpu(driver_host({"gpu.0.processes": f"{NOBODY}:unsupported"}))
    assert answered["processes"] == [{"pid": NOBODY, "memory_bytes": None, "name": None}]
    assert answered["processes_visible"] is False


@pytest.mark.parametrize("code", [2, 3, 4, 13, 999])
def test_a_query_that_is_refused_is_no_fault(driver_host, code):
    answered = first_gpu(driver_host({"nvmlDeviceGetEccMode": code, "nvmlDeviceGetPciInfo_v3": code}))
    assert answered["ecc_enabled"] is None
    assert answered["pci_address"] is None
    assert answered["temperature_celsius"] == 39
    assert "problem" not in answered


@pytest.mark.parametrize(
    ("function", "field", "expected"),
    [
        ("nvmlDeviceGetMemoryInfo_v2", "memory_used_bytes", 644939776),  # the older form counts the reserve as used
        ("nvmlDeviceGetCurrentClocksEventReasons", "clock_event_reasons", 1),
        ("nvmlDeviceGetPowerManagementLimit", "power_limit_watts", 700.0),
    ],
)
def test_an_older_driver_answers_the_older_question(driver_host, function, field, expected):
    assert first_gpu(driver_host({function: 13}))[field] == expected


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        (9, "NVML_ERROR_DRIVER_NOT_LOADED", "Driver Not Loaded"),
        (18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "RM has detected an NVML/RM version mismatch."),
        (28, "NVML_ERROR_GPU_NOT_FOUND", "fake result 28"),
        (777, None, "fake result 777"),
    ],
)
def test_init_fails_with_a_code(driver_host, code, name, words):
    stages, ending = ask(driver_host({"nvmlInit_v2": code}))
    assert ending.ok
    assert stages["init"] == {"result": code, "result_name": name, "problem": words}
    assert "system" not in stages


def test_a_count_that_fails_keeps_the_versions(driver_host):
    stages, _ = ask(driver_host({"nvmlDeviceGetCount_v2": 999}))
    assert stages["system"]["version"] == "580.159.04"
    assert stages["system"]["gpu_count"] is None
    assert stages["system"]["result"] == 999


def test_one_lost_gpu_of_eight(driver_host):
    stages, ending = ask(driver_host({"gpus": 8, "gpu.3.lost": 1}))
    assert ending.ok
    assert stages["gpu 3"] == {
        "index": 3,
        "result": 15,
        "result_name": "NVML_ERROR_GPU_IS_LOST",
        "problem": "GPU is lost",
    }
    assert [stages[f"gpu {index}"]["uuid"][-1] for index in (0, 1, 2, 4, 5, 6, 7)] == list("0124567")


def test_a_gpu_that_goes_while_it_is_asked_still_tells_which_it_is(driver_host):
    answered = first_gpu(driver_host({"nvmlDeviceGetName": 16}))
    assert answered["result"] == 16
    assert answered["pci_address"] == "0000:00:06.0"
    assert "temperature_celsius" not in answered


def test_sixteen_gpus(driver_host):
    stages, _ = ask(driver_host({"gpus": 16}))
    assert stages["gpu 15"]["pci_address"] == "0000:00:15.0"


@pytest.mark.parametrize(("deed", "how"), [("segv", "killed by SIGSEGV"), ("abort", "killed by SIGABRT")])
def test_a_crash_keeps_what_was_read_before(driver_host, deed, how):
    stages, ending = ask(driver_host({"gpus": 3, "gpu.1.nvmlDeviceGetPowerUsage": deed}))
    assert (ending.ok, ending.how, ending.stage) == (False, how, "gpu 1")
    assert list(stages) == ["load", "init", "system", "gpu 0"]


def test_without_the_library_pynvml_is_not_even_imported(tmp_path):
    (tmp_path / "pynvml.py").write_text("raise SystemError('imported')")
    stages, ending = ask(LocalHost(Request(), env={}), str(tmp_path))
    if stages["load"]["status"] == "loaded":
        pytest.skip("this machine has an NVIDIA driver")
    assert ending.ok
    assert list(stages) == ["load", "done"]
    assert stages["load"]["status"] == "library-not-found"


def test_a_pynvml_that_does_not_import_is_our_problem_not_the_drivers(driver_host, tmp_path):
    (tmp_path / "pynvml.py").write_text("raise SystemError('imported')")
    stages, ending = ask(driver_host(), str(tmp_path))
    assert ending.how == "SystemError: imported"
    assert "crashed" in stages


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
    answered = first_gpu(driver_host(), str(tmp_path))
    assert answered["mig_enabled"] is None
    assert answered["name"] is None
    assert answered["clock_event_reasons"] == 1
    assert answered["memory_total_bytes"] == 150754820096
    assert "fabric_state" not in answered
    assert answered["persistence_mode"] is True


def test_a_library_cut_in_the_middle_is_told_from_a_missing_one(driver_folder, tmp_path):
    whole = (driver_folder / "libnvidia-ml.so.1").read_bytes()
    (tmp_path / "libnvidia-ml.so.1").write_bytes(whole[: len(whole) // 3])
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    stages, ending = ask(LocalHost(Request(), env=fake_driver.environment(tmp_path, scenario)))
    if ending.ok:  # some loaders notice, others fault
        assert stages["load"]["status"] == "library-unusable"
    else:
        assert ending.stage == "load"
        assert ending.how in ("killed by SIGBUS", "killed by SIGSEGV")
