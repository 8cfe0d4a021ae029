"""Query one GPU through NVML."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from gpucheck.core.child.messages.drivers import Gpu, GpuProcess, GpuSample, NvLink
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.nvml_queries import GpuLost, Queries, failure_of

UNCORRECTED, VOLATILE, AGGREGATE = 1, 0, 1  # nvmlMemoryErrorType_t, nvmlEccCounterType_t
SM_CLOCK, SLOWDOWN, GPU_SENSOR = 1, 1, 0  # nvmlClockType_t, nvmlTemperatureThresholds_t, nvmlTemperatureSensors_t

COMPUTE_MODES = ("default", "exclusive-thread", "prohibited", "exclusive-process")
FABRIC_STATES = ("not-supported", "not-started", "in-progress", "completed")
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # the kernel's PROC_PID_INIT_INO


def read_gpu(pynvml: Any, index: int) -> Gpu:
    """Query one GPU, its identity first: a lost GPU may still report that."""
    try:
        queries = Queries(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index))
    except pynvml.NVMLError as error:
        failure = failure_of(pynvml, error)
        return Gpu(index=index, problem=failure.problem, result=failure.result)
    gpu, lost = Gpu(index=index), None
    for read in (*IDENTITY, *READINGS):
        try:
            if lost is None or read in IDENTITY:
                gpu = read(gpu, queries)
        except GpuLost as error:
            lost = error
    return gpu if lost is None else replace(gpu, problem=lost.failure.problem, result=lost.failure.result)


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
        temperature_celsius=now.temperature_celsius,
        temperature_slowdown_celsius=nvml.ask("nvmlDeviceGetTemperatureThreshold", SLOWDOWN),
        power_limit_watts=nvml.ask("nvmlDeviceGetPowerManagementLimit|nvmlDeviceGetEnforcedPowerLimit", convert=_watts),
        power_default_limit_watts=nvml.ask("nvmlDeviceGetPowerManagementDefaultLimit", convert=_watts),
        sm_clock_max_mhz=nvml.ask("nvmlDeviceGetMaxClockInfo", SM_CLOCK),
        utilization_percent=now.utilization_percent,
        power_watts=now.power_watts,
        sm_clock_mhz=now.sm_clock_mhz,
        clock_event_reasons=now.clock_event_reasons,
    )


def identity(nvml: Queries) -> tuple[str | None, int | None]:
    """A GPU's UUID and the bytes of its memory. Raises ``GpuLost``."""
    total = nvml.ask("nvmlDeviceGetMemoryInfo", convert=lambda memory: memory.total)
    return nvml.ask("nvmlDeviceGetUUID"), total


def sample(nvml: Queries) -> GpuSample:
    """A GPU's utilization, power, clock and temperature now. Raises ``GpuLost``."""
    return GpuSample(
        utilization_percent=nvml.ask("nvmlDeviceGetUtilizationRates", convert=lambda rates: rates.gpu),
        power_watts=nvml.ask("nvmlDeviceGetPowerUsage", convert=_watts),
        sm_clock_mhz=nvml.ask("nvmlDeviceGetClockInfo", SM_CLOCK),
        clock_event_reasons=nvml.ask("nvmlDeviceGetCurrentClocksEventReasons|nvmlDeviceGetCurrentClocksThrottleReasons"),
        temperature_celsius=nvml.ask("nvmlDeviceGetTemperature|nvmlDeviceGetTemperatureV", GPU_SENSOR),
    )


def _links(gpu: Gpu, nvml: Queries) -> Gpu:
    """PCIe and NVLink. NVML's maximum PCIe generation is that of this GPU in this slot, so a slower slot is not a fault."""
    links: list[NvLink] = []
    for link in range(getattr(nvml.pynvml, "NVML_NVLINK_MAX_LINKS", 18)):
        active = nvml.ask("nvmlDeviceGetNvLinkState", link, convert=bool)
        if active is not None:
            links.append(NvLink(link=link, active=active))
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
    """State of the NVSwitch fabric: pynvml fills a struct that the caller passes."""
    for kind, function in (
        ("c_nvmlGpuFabricInfo_v3_t", "nvmlDeviceGetGpuFabricInfoV"),
        ("c_nvmlGpuFabricInfoV_t", "nvmlDeviceGetGpuFabricInfoV"),
        ("c_nvmlGpuFabricInfo_t", "nvmlDeviceGetGpuFabricInfo"),
    ):
        if hasattr(nvml.pynvml, kind):
            info = getattr(nvml.pynvml, kind)()
            if nvml.ask(function, ctypes.byref(info)) == 0:
                state = FABRIC_STATES[info.state] if info.state < len(FABRIC_STATES) else None
                return replace(
                    gpu,
                    fabric_state=state,
                    fabric_status=info.status,
                    fabric_health_mask=getattr(info, "healthMask", None),
                    fabric_clique=info.cliqueId,
                    fabric_cluster=bytes(info.clusterUuid).hex(),
                )
    return gpu


def _recovery(gpu: Gpu, nvml: Queries) -> Gpu:
    """The recovery action that the driver requests. Older drivers do not have this field."""
    field = getattr(nvml.pynvml, "NVML_FI_DEV_GET_GPU_RECOVERY_ACTION", None)
    (value,) = (nvml.ask("nvmlDeviceGetFieldValues", [field]) if field is not None else None) or (None,)
    return gpu if value is None or value.nvmlReturn else replace(gpu, recovery_action=value.value.uiVal)


def _mig(gpu: Gpu, nvml: Queries) -> Gpu:
    enabled = nvml.ask("nvmlDeviceGetMigMode", convert=lambda mode: bool(mode[0]))
    if not enabled:
        return replace(gpu, mig_enabled=enabled)
    slots = range(nvml.ask("nvmlDeviceGetMaxMigDeviceCount") or 0)
    handles = [nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", slot) for slot in slots]
    return replace(gpu, mig_enabled=True, mig_devices=sum(handle is not None for handle in handles))


def _processes(gpu: Gpu, nvml: Queries) -> Gpu:
    """Compute processes. NVML returns process ids of the host's namespace, or none: they are meaningless in a container."""
    listed = nvml.ask("nvmlDeviceGetComputeRunningProcesses|nvmlDeviceGetComputeRunningProcesses_v2")
    if listed is None:
        return gpu
    processes = tuple(
        GpuProcess(pid=process.pid, memory_bytes=process.usedGpuMemory, name=_program(process.pid)) for process in listed
    )
    if processes:
        visible = all(os.path.isdir(f"/proc/{process.pid}") for process in processes)
    else:
        visible = _pid_namespace() == FIRST_PID_NAMESPACE
    return replace(gpu, processes=processes, processes_visible=visible if os.path.isdir("/proc/self") else None)


READINGS = (_modes, _memory, _errors, _recovery, _load, _links, _fabric, _mig, _processes)


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
