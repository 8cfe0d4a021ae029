"""The first witness: the driver's management library, NVML.

Stages: load, init, system, "gpu 0", "gpu 1", ..., shutdown. The library is opened before pynvml is imported, because on a
machine without it that import would be the whole cost. What a GPU does not answer is left out: not supported is no fault.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

from gpucheck.child.loader import load

LIBRARIES = {"linux": "libnvidia-ml.so.1", "win32": "nvml.dll"}

# nvmlReturn_t after which a GPU gives no trustworthy answer any more: external power missing, driver gone, interrupts
# lost, fallen off the bus, reset required, blocked by the system, versions mixed.
GONE = (8, 9, 11, 15, 16, 17, 18)
OTHER_FORM = (13, 25, 26)  # function not found, argument version mismatch, deprecated: an older function may answer

UNCORRECTED, VOLATILE, AGGREGATE = 1, 0, 1  # nvmlMemoryErrorType_t, nvmlEccCounterType_t
SM_CLOCK, SLOWDOWN, GPU_SENSOR = 1, 1, 0  # nvmlClockType_t, nvmlTemperatureThresholds_t, nvmlTemperatureSensors_t
NO_VALUE = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)  # NVML_VALUE_NOT_AVAILABLE

COMPUTE_MODES = ("default", "exclusive-thread", "prohibited", "exclusive-process")
FABRIC_STATES = ("not-supported", "not-started", "in-progress", "completed")
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # the kernel's PROC_PID_INIT_INO


class Gone(Exception):
    """A GPU that gives no trustworthy answer any more; args: the account of it."""


def run(stages: Any, args: list[str]) -> None:
    """Report what NVML says. ``args[0]``: the folder that holds pynvml."""
    stages.begin("load")
    library, account = load(LIBRARIES, "nvmlInit_v2")
    stages.end("load", account)
    if library is None:
        return
    stages.begin("init")
    sys.path.extend(args[:1])
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        stages.end("init", failure(pynvml, error))
        return
    stages.end("init", {})
    stages.begin("system")
    system = _system(pynvml)
    stages.end("system", system)
    for index in range(system["gpu_count"] or 0):
        stages.begin(f"gpu {index}")
        stages.end(f"gpu {index}", _gpu(pynvml, index))
    stages.begin("shutdown")
    with contextlib.suppress(pynvml.NVMLError):  # everything has been read
        pynvml.nvmlShutdown()
    stages.end("shutdown")


def failure(pynvml: Any, error: Any) -> dict[str, Any]:
    """An NVMLError in plain words."""
    code = int(error.value)
    names = (name for name in dir(pynvml) if name.startswith("NVML_ERROR_") and getattr(pynvml, name) == code)
    try:
        words = pynvml.NVMLError._errcode_to_string[code]
    except (AttributeError, KeyError):
        words = _decoded(pynvml.nvmlErrorString(code))
    return {"result": code, "result_name": next(names, None), "problem": words}


def _system(pynvml: Any) -> dict[str, Any]:
    machine = Queries(pynvml)
    system: dict[str, Any] = {
        "version": machine.ask("nvmlSystemGetDriverVersion"),
        "nvml_version": machine.ask("nvmlSystemGetNVMLVersion"),
        "cuda_version": machine.ask("nvmlSystemGetCudaDriverVersion_v2|nvmlSystemGetCudaDriverVersion"),
        "gpu_count": None,
    }
    try:
        system["gpu_count"] = int(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError as error:
        system.update(failure(pynvml, error))
    return system


class Queries:
    """Questions to NVML about the machine, or about one GPU; each may fail alone."""

    def __init__(self, pynvml: Any, *handle: Any) -> None:
        """Ask about the GPU of that handle."""
        self.pynvml, self.handle = pynvml, handle

    def ask(self, names: str, *args: Any, convert: Callable[[Any], Any] | None = None) -> Any:
        """The answer of the first function that NVML and pynvml both know; None: no answer.

        Raises:
            Gone: the GPU gives no trustworthy answer any more.
        """
        for name in names.split("|"):
            function: Any = getattr(self.pynvml, name, None)
            function = getattr(function, "__wrapped__", function)  # without pynvml's decoding, which garbage breaks
            try:
                value = _decoded(function(*self.handle, *args))
                if value in NO_VALUE:
                    return None
                return convert(value) if convert else value
            except self.pynvml.NVMLError as error:
                if self.handle and error.value in GONE:
                    raise Gone(failure(self.pynvml, error)) from error
                if error.value not in OTHER_FORM:
                    return None
            except Exception:  # noqa: S112
                continue  # pynvml's versions differ in names and arguments: the next form may do
        return None


def _gpu(pynvml: Any, index: int) -> dict[str, Any]:
    gpu: dict[str, Any] = {"index": index}
    try:
        queries = Queries(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index))
    except pynvml.NVMLError as error:
        gpu.update(failure(pynvml, error))
        return gpu
    for field, function, convert in IDENTITY:
        try:
            gpu[field] = queries.ask(function, convert=convert)
        except Gone as gone:  # a lost GPU may still tell which one it is
            gpu.update(gone.args[0])
    if "problem" in gpu:
        return gpu
    try:
        for read in READINGS:
            gpu.update(read(queries))
    except Gone as gone:
        gpu.update(gone.args[0])
    return gpu


def _pci_address(pci: Any) -> str:
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"


IDENTITY = (
    ("name", "nvmlDeviceGetName", None),
    ("uuid", "nvmlDeviceGetUUID", None),
    ("pci_address", "nvmlDeviceGetPciInfo", _pci_address),
    ("minor", "nvmlDeviceGetMinorNumber", None),
    ("compute_capability", "nvmlDeviceGetCudaComputeCapability", list),
)


def _modes(gpu: Queries) -> dict[str, Any]:
    return {
        "persistence_mode": gpu.ask("nvmlDeviceGetPersistenceMode", convert=bool),
        "compute_mode": gpu.ask("nvmlDeviceGetComputeMode", convert=lambda mode: COMPUTE_MODES[mode]),
    }


def _memory(gpu: Queries) -> dict[str, Any]:
    memory = gpu.ask("nvmlDeviceGetMemoryInfo", getattr(gpu.pynvml, "nvmlMemory_v2", None))
    memory = memory or gpu.ask("nvmlDeviceGetMemoryInfo")  # the first version counts the driver's reserve as used
    return {
        "memory_total_bytes": getattr(memory, "total", None),
        "memory_free_bytes": getattr(memory, "free", None),
        "memory_used_bytes": getattr(memory, "used", None),
    }


def _errors(gpu: Queries) -> dict[str, Any]:
    rows = gpu.ask("nvmlDeviceGetRemappedRows") or (None, None, None, None)
    return {
        "ecc_enabled": gpu.ask("nvmlDeviceGetEccMode", convert=lambda mode: bool(mode[0])),
        "ecc_uncorrected_volatile": gpu.ask("nvmlDeviceGetTotalEccErrors", UNCORRECTED, VOLATILE),
        "ecc_uncorrected_aggregate": gpu.ask("nvmlDeviceGetTotalEccErrors", UNCORRECTED, AGGREGATE),
        "retired_pages_pending": gpu.ask("nvmlDeviceGetRetiredPagesPendingStatus", convert=bool),
        "remapped_rows_uncorrectable": rows[1],
        "remapping_pending": None if rows[2] is None else bool(rows[2]),
        "remapping_failed": None if rows[3] is None else bool(rows[3]),
    }


def _load(gpu: Queries) -> dict[str, Any]:
    return {
        "temperature_celsius": gpu.ask("nvmlDeviceGetTemperature|nvmlDeviceGetTemperatureV", GPU_SENSOR),
        "temperature_slowdown_celsius": gpu.ask("nvmlDeviceGetTemperatureThreshold", SLOWDOWN),
        "power_limit_watts": gpu.ask("nvmlDeviceGetPowerManagementLimit|nvmlDeviceGetEnforcedPowerLimit", convert=_watts),
        "power_default_limit_watts": gpu.ask("nvmlDeviceGetPowerManagementDefaultLimit", convert=_watts),
        "sm_clock_max_mhz": gpu.ask("nvmlDeviceGetMaxClockInfo", SM_CLOCK),
        **activity(gpu),
    }


def activity(gpu: Queries) -> dict[str, Any]:
    """What a GPU does at this moment."""
    return {
        "utilization_percent": gpu.ask("nvmlDeviceGetUtilizationRates", convert=lambda rates: rates.gpu),
        "power_watts": gpu.ask("nvmlDeviceGetPowerUsage", convert=_watts),
        "sm_clock_mhz": gpu.ask("nvmlDeviceGetClockInfo", SM_CLOCK),
        "clock_event_reasons": gpu.ask("nvmlDeviceGetCurrentClocksEventReasons|nvmlDeviceGetCurrentClocksThrottleReasons"),
    }


def _links(gpu: Queries) -> dict[str, Any]:
    """PCIe and NVLink. NVML's maximum PCIe generation is that of this GPU in this slot, so a slower slot is no loss."""
    links = []
    for link in range(getattr(gpu.pynvml, "NVML_NVLINK_MAX_LINKS", 18)):
        active = gpu.ask("nvmlDeviceGetNvLinkState", link, convert=bool)
        if active is not None:
            links.append({"link": link, "active": active})
        elif not links:
            break  # a GPU without NVLink has no link 0
    return {
        "pcie_generation": gpu.ask("nvmlDeviceGetCurrPcieLinkGeneration"),
        "pcie_generation_max": gpu.ask("nvmlDeviceGetMaxPcieLinkGeneration"),
        "pcie_width": gpu.ask("nvmlDeviceGetCurrPcieLinkWidth"),
        "pcie_width_max": gpu.ask("nvmlDeviceGetMaxPcieLinkWidth"),
        "nvlinks": links,
    }


def _fabric(gpu: Queries) -> dict[str, Any]:
    """State of the NVSwitch fabric: pynvml fills a struct that the caller brings."""
    for kind, function in (
        ("c_nvmlGpuFabricInfoV_t", "nvmlDeviceGetGpuFabricInfoV"),
        ("c_nvmlGpuFabricInfo_t", "nvmlDeviceGetGpuFabricInfo"),
    ):
        if hasattr(gpu.pynvml, kind):
            info = getattr(gpu.pynvml, kind)()
            if gpu.ask(function, ctypes.byref(info)) == 0:
                state = FABRIC_STATES[info.state] if info.state < len(FABRIC_STATES) else None
                return {"fabric_state": state, "fabric_status": info.status}
    return {}


def _mig(gpu: Queries) -> dict[str, Any]:
    enabled = gpu.ask("nvmlDeviceGetMigMode", convert=lambda mode: bool(mode[0]))
    if not enabled:
        return {"mig_enabled": enabled}
    slots = range(gpu.ask("nvmlDeviceGetMaxMigDeviceCount") or 0)
    handles = [gpu.ask("nvmlDeviceGetMigDeviceHandleByIndex", slot) for slot in slots]
    return {"mig_enabled": True, "mig_devices": sum(handle is not None for handle in handles)}


def _processes(gpu: Queries) -> dict[str, Any]:
    """Compute processes. NVML gives the first namespace's process ids, or none: inside a container they mean nothing."""
    found = gpu.ask("nvmlDeviceGetComputeRunningProcesses|nvmlDeviceGetComputeRunningProcesses_v2")
    if found is None:
        return {}
    processes = [{"pid": process.pid, "memory_bytes": process.usedGpuMemory, "name": _program(process.pid)} for process in found]
    if processes:
        visible = all(os.path.isdir(f"/proc/{process['pid']}") for process in processes)
    else:
        visible = _pid_namespace() == FIRST_PID_NAMESPACE
    return {"processes": processes, "processes_visible": visible if os.path.isdir("/proc/self") else None}


READINGS = (_modes, _memory, _errors, _load, _links, _fabric, _mig, _processes)


def _program(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
            return comm.read().strip()
    except OSError:
        return None


def _pid_namespace() -> str | None:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None


def _watts(milliwatts: int) -> float:
    return milliwatts / 1000


def _decoded(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
