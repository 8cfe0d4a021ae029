"""The driver's management library, NVML, asked about the driver and every GPU.

The library is opened before pynvml is imported, because on a machine without it that import would be the whole cost. What a GPU
does not answer stays None: not supported is no fault.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpucheck.child.loader import load
from gpucheck.child.messages.drivers import DriverStarted, Failure, LibraryLoaded
from gpucheck.child.messages.nvml import Gpu, GpuProcess, GpuRead, GpuSample, NvLink, NvmlShutDown, NvmlSystem, NvmlTask
from gpucheck.child.runtime import Reporter

TASK = NvmlTask

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
    """A GPU that gives no trustworthy answer any more."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.problem)
        self.failure = failure


def run(reporter: Reporter, task: NvmlTask) -> None:
    """Report what NVML says."""
    reporter.begin(LibraryLoaded)
    library, loaded = load(LIBRARIES, "nvmlInit_v2")
    reporter.end(loaded)
    if library is None:
        return
    reporter.begin(DriverStarted)
    sys.path.append(task.library_folder)
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        failure = failure_of(pynvml, error)
        reporter.end(DriverStarted(failure.result, failure.result_name, failure.problem))
        return
    reporter.end(DriverStarted())
    reporter.begin(NvmlSystem)
    system = _system(pynvml)
    reporter.end(system)
    for index in range(system.gpu_count or 0):
        reporter.begin(GpuRead, str(index))
        reporter.end(GpuRead(_gpu(pynvml, index)), str(index))
    reporter.begin(NvmlShutDown)
    with contextlib.suppress(pynvml.NVMLError):  # everything has been read
        pynvml.nvmlShutdown()
    reporter.end(NvmlShutDown())


def failure_of(pynvml: Any, error: Any) -> Failure:
    """An NVMLError in plain words."""
    code = int(error.value)
    names = (name for name in dir(pynvml) if name.startswith("NVML_ERROR_") and getattr(pynvml, name) == code)
    try:
        words = pynvml.NVMLError._errcode_to_string[code]
    except (AttributeError, KeyError):
        words = _decoded(pynvml.nvmlErrorString(code))
    return Failure(code, next(names, None), words)


def _system(pynvml: Any) -> NvmlSystem:
    machine = Queries(pynvml)
    system = NvmlSystem(
        version=machine.ask("nvmlSystemGetDriverVersion"),
        nvml_version=machine.ask("nvmlSystemGetNVMLVersion"),
        cuda_version=machine.ask("nvmlSystemGetCudaDriverVersion_v2|nvmlSystemGetCudaDriverVersion"),
    )
    try:
        return replace(system, gpu_count=int(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError as error:
        failure = failure_of(pynvml, error)
        return replace(system, result=failure.result, result_name=failure.result_name, problem=failure.problem)


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
                    raise Gone(failure_of(self.pynvml, error)) from error
                if error.value not in OTHER_FORM:
                    return None
            except Exception:  # noqa: S112
                continue  # pynvml's versions differ in names and arguments: the next form may do
        return None


def _gpu(pynvml: Any, index: int) -> Gpu:
    try:
        queries = Queries(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index))
    except pynvml.NVMLError as error:
        failure = failure_of(pynvml, error)
        return Gpu(index, failure.problem, failure.result)
    gpu, gone = Gpu(index), None
    for read in IDENTITY:
        try:
            gpu = read(gpu, queries)
        except Gone as error:  # a lost GPU may still say which one it is
            gone = error
    try:
        for read in () if gone is not None else READINGS:
            gpu = read(gpu, queries)
    except Gone as error:
        gone = error
    return gpu if gone is None else replace(gpu, problem=gone.failure.problem, result=gone.failure.result)


def _pci_address(pci: Any) -> str:
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"


IDENTITY: tuple[Callable[[Gpu, Queries], Gpu], ...] = (
    lambda gpu, nvml: replace(gpu, name=nvml.ask("nvmlDeviceGetName")),
    lambda gpu, nvml: replace(gpu, uuid=nvml.ask("nvmlDeviceGetUUID")),
    lambda gpu, nvml: replace(gpu, pci_address=nvml.ask("nvmlDeviceGetPciInfo", convert=_pci_address)),
    lambda gpu, nvml: replace(gpu, minor=nvml.ask("nvmlDeviceGetMinorNumber")),
    lambda gpu, nvml: replace(gpu, compute_capability=nvml.ask("nvmlDeviceGetCudaComputeCapability", convert=tuple)),
)


def _modes(gpu: Gpu, nvml: Queries) -> Gpu:
    return replace(
        gpu,
        persistence_mode=nvml.ask("nvmlDeviceGetPersistenceMode", convert=bool),
        compute_mode=nvml.ask("nvmlDeviceGetComputeMode", convert=lambda mode: COMPUTE_MODES[mode]),
    )


def _memory(gpu: Gpu, nvml: Queries) -> Gpu:
    memory = nvml.ask("nvmlDeviceGetMemoryInfo", getattr(nvml.pynvml, "nvmlMemory_v2", None))
    memory = memory or nvml.ask("nvmlDeviceGetMemoryInfo")  # the first version counts the driver's reserve as used
    return replace(
        gpu,
        memory_total_bytes=getattr(memory, "total", None),
        memory_free_bytes=getattr(memory, "free", None),
        memory_used_bytes=getattr(memory, "used", None),
    )


def _errors(gpu: Gpu, nvml: Queries) -> Gpu:
    rows = nvml.ask("nvmlDeviceGetRemappedRows") or (None, None, None, None)
    return replace(
        gpu,
        ecc_enabled=nvml.ask("nvmlDeviceGetEccMode", convert=lambda mode: bool(mode[0])),
        ecc_uncorrected_volatile=nvml.ask("nvmlDeviceGetTotalEccErrors", UNCORRECTED, VOLATILE),
        ecc_uncorrected_aggregate=nvml.ask("nvmlDeviceGetTotalEccErrors", UNCORRECTED, AGGREGATE),
        retired_pages_pending=nvml.ask("nvmlDeviceGetRetiredPagesPendingStatus", convert=bool),
        remapped_rows_uncorrectable=rows[1],
        remapping_pending=None if rows[2] is None else bool(rows[2]),
        remapping_failed=None if rows[3] is None else bool(rows[3]),
    )


def _load(gpu: Gpu, nvml: Queries) -> Gpu:
    now = sample(nvml)
    return replace(
        gpu,
        temperature_celsius=nvml.ask("nvmlDeviceGetTemperature|nvmlDeviceGetTemperatureV", GPU_SENSOR),
        temperature_slowdown_celsius=nvml.ask("nvmlDeviceGetTemperatureThreshold", SLOWDOWN),
        power_limit_watts=nvml.ask("nvmlDeviceGetPowerManagementLimit|nvmlDeviceGetEnforcedPowerLimit", convert=_watts),
        power_default_limit_watts=nvml.ask("nvmlDeviceGetPowerManagementDefaultLimit", convert=_watts),
        sm_clock_max_mhz=nvml.ask("nvmlDeviceGetMaxClockInfo", SM_CLOCK),
        utilization_percent=now.utilization_percent,
        power_watts=now.power_watts,
        sm_clock_mhz=now.sm_clock_mhz,
        clock_event_reasons=now.clock_event_reasons,
    )


def sample(nvml: Queries) -> GpuSample:
    """What a GPU does at this moment. Raises ``Gone``."""
    return GpuSample(
        utilization_percent=nvml.ask("nvmlDeviceGetUtilizationRates", convert=lambda rates: rates.gpu),
        power_watts=nvml.ask("nvmlDeviceGetPowerUsage", convert=_watts),
        sm_clock_mhz=nvml.ask("nvmlDeviceGetClockInfo", SM_CLOCK),
        clock_event_reasons=nvml.ask("nvmlDeviceGetCurrentClocksEventReasons|nvmlDeviceGetCurrentClocksThrottleReasons"),
    )


def _links(gpu: Gpu, nvml: Queries) -> Gpu:
    """PCIe and NVLink. NVML's maximum PCIe generation is that of this GPU in this slot, so a slower slot is no loss."""
    links: list[NvLink] = []
    for link in range(getattr(nvml.pynvml, "NVML_NVLINK_MAX_LINKS", 18)):
        active = nvml.ask("nvmlDeviceGetNvLinkState", link, convert=bool)
        if active is not None:
            links.append(NvLink(link, active))
        elif not links:
            break  # a GPU without NVLink has no link 0
    return replace(
        gpu,
        pcie_generation=nvml.ask("nvmlDeviceGetCurrPcieLinkGeneration"),
        pcie_generation_max=nvml.ask("nvmlDeviceGetMaxPcieLinkGeneration"),
        pcie_width=nvml.ask("nvmlDeviceGetCurrPcieLinkWidth"),
        pcie_width_max=nvml.ask("nvmlDeviceGetMaxPcieLinkWidth"),
        nvlinks=tuple(links),
    )


def _fabric(gpu: Gpu, nvml: Queries) -> Gpu:
    """State of the NVSwitch fabric: pynvml fills a struct that the caller brings."""
    for kind, function in (
        ("c_nvmlGpuFabricInfoV_t", "nvmlDeviceGetGpuFabricInfoV"),
        ("c_nvmlGpuFabricInfo_t", "nvmlDeviceGetGpuFabricInfo"),
    ):
        if hasattr(nvml.pynvml, kind):
            info = getattr(nvml.pynvml, kind)()
            if nvml.ask(function, ctypes.byref(info)) == 0:
                state = FABRIC_STATES[info.state] if info.state < len(FABRIC_STATES) else None
                return replace(gpu, fabric_state=state, fabric_status=info.status)
    return gpu


def _mig(gpu: Gpu, nvml: Queries) -> Gpu:
    enabled = nvml.ask("nvmlDeviceGetMigMode", convert=lambda mode: bool(mode[0]))
    if not enabled:
        return replace(gpu, mig_enabled=enabled)
    slots = range(nvml.ask("nvmlDeviceGetMaxMigDeviceCount") or 0)
    handles = [nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", slot) for slot in slots]
    return replace(gpu, mig_enabled=True, mig_devices=sum(handle is not None for handle in handles))


def _processes(gpu: Gpu, nvml: Queries) -> Gpu:
    """Compute processes. NVML gives the first namespace's process ids, or none: inside a container they mean nothing."""
    listed = nvml.ask("nvmlDeviceGetComputeRunningProcesses|nvmlDeviceGetComputeRunningProcesses_v2")
    if listed is None:
        return gpu
    processes = tuple(GpuProcess(process.pid, process.usedGpuMemory, _program(process.pid)) for process in listed)
    if processes:
        visible = all(os.path.isdir(f"/proc/{process.pid}") for process in processes)
    else:
        visible = _pid_namespace() == FIRST_PID_NAMESPACE
    return replace(gpu, processes=processes, processes_visible=visible if os.path.isdir("/proc/self") else None)


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
