"""NVML queries about one GPU. Each may fail separately, and its result is then None: an unsupported query is not a fault."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from gpucheck.core.child.messages.drivers import Failure, Gpu, GpuProcess, NvLink

LIBRARIES = {"linux": "libnvidia-ml.so.1", "win32": "nvml.dll"}

# nvmlReturn_t after which a GPU's answers can't be trusted: external power missing, driver not loaded, interrupts
# lost, fallen off the bus, reset required, blocked by the system, version mismatch.
LOST = (8, 9, 11, 15, 16, 17, 18)
OTHER_FORM = (13, 25, 26)  # function not found, argument version mismatch, deprecated: an older function may answer

NO_VALUE = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)  # NVML_VALUE_NOT_AVAILABLE

UNCORRECTED, VOLATILE, AGGREGATE = 1, 0, 1  # nvmlMemoryErrorType_t, nvmlEccCounterType_t
SM_CLOCK, SLOWDOWN, GPU_SENSOR = 1, 1, 0  # nvmlClockType_t, nvmlTemperatureThresholds_t, nvmlTemperatureSensors_t

COMPUTE_MODES = ("default", "exclusive-thread", "prohibited", "exclusive-process")
FABRIC_STATES = ("not-supported", "not-started", "in-progress", "completed")
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # the kernel's PROC_PID_INIT_INO


class GpuLost(Exception):
    """A GPU whose answers can no longer be trusted."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.problem)
        self.failure = failure


def failure_of(pynvml: Any, error: Any) -> Failure:
    """Convert an NVMLError."""
    code = int(error.value)
    names = (name for name in dir(pynvml) if name.startswith("NVML_ERROR_") and getattr(pynvml, name) == code)
    try:
        words = pynvml.NVMLError._errcode_to_string[code]
    except (AttributeError, KeyError):
        words = _decoded(pynvml.nvmlErrorString(code))
    return Failure(code, next(names, None), words)


class Queries:
    """NVML queries about the machine or one GPU; each may fail separately."""

    def __init__(self, pynvml: Any, *handle: Any) -> None:
        """Set the GPU to query by its handle; without one, the machine is queried."""
        self.pynvml, self.handle = pynvml, handle

    def ask(self, names: str, *args: Any, convert: Callable[[Any], Any] | None = None) -> Any:
        """Return the result of the first function that both NVML and pynvml support; None if there is none.

        Raises:
            GpuLost: the GPU's answers can no longer be trusted.
        """
        for name in names.split("|"):
            function: Any = getattr(self.pynvml, name, None)
            function = getattr(function, "__wrapped__", function)  # without pynvml's decoding, which fails on invalid text
            try:
                value = _decoded(function(*self.handle, *args))
                if value in NO_VALUE:
                    return None
                return convert(value) if convert else value
            except self.pynvml.NVMLError as error:
                if self.handle and error.value in LOST:
                    raise GpuLost(failure_of(self.pynvml, error)) from error
                if error.value not in OTHER_FORM:
                    return None
            except Exception:  # noqa: S112
                continue  # pynvml's versions differ in names and arguments: the next function may work
        return None


def _decoded(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def read_gpu(pynvml: Any, index: int) -> Gpu:
    """Query one GPU, its identity first: a lost GPU may still report that."""
    try:
        queries = Queries(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index))
    except pynvml.NVMLError as error:
        failure = failure_of(pynvml, error)
        return Gpu(index=index, problem=failure.problem, result=failure.result)
    fields: dict[str, Any] = {}
    lost = None
    for read in (*IDENTITY, *READINGS):
        try:
            if lost is None or read in IDENTITY:
                fields.update(read(queries))
        except GpuLost as error:
            lost = error
    if lost is not None:
        fields.update(problem=lost.failure.problem, result=lost.failure.result)
    return Gpu(index=index, **fields)


def _field(field: str, *question: Any, convert: Callable[[Any], Any] | None = None) -> Callable[[Queries], dict[str, Any]]:
    """Read one field of ``Gpu`` with ``Queries.ask``."""
    return lambda nvml: {field: nvml.ask(*question, convert=convert)}


def _memory(nvml: Queries) -> dict[str, Any]:
    memory = nvml.ask("nvmlDeviceGetMemoryInfo", getattr(nvml.pynvml, "nvmlMemory_v2", None))
    memory = memory or nvml.ask("nvmlDeviceGetMemoryInfo")  # the first version counts the driver's reserve as used
    return {f"memory_{name}_bytes": getattr(memory, name, None) for name in ("total", "free", "used")}


def _remapped_rows(nvml: Queries) -> dict[str, Any]:
    rows = nvml.ask("nvmlDeviceGetRemappedRows")
    if not rows:
        return {}
    return {"remapped_rows_uncorrectable": rows[1], "remapping_pending": bool(rows[2]), "remapping_failed": bool(rows[3])}


def _nvlinks(nvml: Queries) -> dict[str, Any]:
    links: list[NvLink] = []
    for link in range(getattr(nvml.pynvml, "NVML_NVLINK_MAX_LINKS", 18)):
        active = nvml.ask("nvmlDeviceGetNvLinkState", link, convert=bool)
        if active is not None:
            links.append(NvLink(link=link, active=active))
        elif not links:
            break  # a GPU without NVLink has no link 0
    return {"nvlinks": tuple(links)}


def _fabric(nvml: Queries) -> dict[str, Any]:
    """Read the state of the NVSwitch fabric: pynvml fills a struct that the caller passes."""
    for kind, function in (
        ("c_nvmlGpuFabricInfo_v3_t", "nvmlDeviceGetGpuFabricInfoV"),
        ("c_nvmlGpuFabricInfoV_t", "nvmlDeviceGetGpuFabricInfoV"),
        ("c_nvmlGpuFabricInfo_t", "nvmlDeviceGetGpuFabricInfo"),
    ):
        if hasattr(nvml.pynvml, kind):
            info = getattr(nvml.pynvml, kind)()
            if nvml.ask(function, ctypes.byref(info)) == 0:
                state = FABRIC_STATES[info.state] if info.state < len(FABRIC_STATES) else None
                return {
                    "fabric_state": state,
                    "fabric_status": info.status,
                    "fabric_health_mask": getattr(info, "healthMask", None),
                    "fabric_clique": info.cliqueId,
                    "fabric_cluster": bytes(info.clusterUuid).hex(),
                }
    return {}


def _recovery(nvml: Queries) -> dict[str, Any]:
    """Read the recovery action that the driver requests. Older drivers do not have this field."""
    field = getattr(nvml.pynvml, "NVML_FI_DEV_GET_GPU_RECOVERY_ACTION", None)
    (value,) = (nvml.ask("nvmlDeviceGetFieldValues", [field]) if field is not None else None) or (None,)
    return {} if value is None or value.nvmlReturn else {"recovery_action": value.value.uiVal}


def _mig(nvml: Queries) -> dict[str, Any]:
    enabled = nvml.ask("nvmlDeviceGetMigMode", convert=_first)
    if not enabled:
        return {"mig_enabled": enabled}
    slots = range(nvml.ask("nvmlDeviceGetMaxMigDeviceCount") or 0)
    handles = [nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", slot) for slot in slots]
    return {"mig_enabled": True, "mig_devices": sum(handle is not None for handle in handles)}


def _processes(nvml: Queries) -> dict[str, Any]:
    """Read the compute processes. NVML returns none, or ids of the host's namespace, which are meaningless in a container."""
    listed = nvml.ask("nvmlDeviceGetComputeRunningProcesses|nvmlDeviceGetComputeRunningProcesses_v2")
    if listed is None:
        return {}
    processes = tuple(
        GpuProcess(pid=process.pid, memory_bytes=process.usedGpuMemory, name=_program(process.pid)) for process in listed
    )
    if processes:
        visible = all(os.path.isdir(f"/proc/{process.pid}") for process in processes)
    else:
        visible = _pid_namespace() == FIRST_PID_NAMESPACE
    return {"processes": processes, "processes_visible": visible if os.path.isdir("/proc/self") else None}


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


def _pci_address(pci: Any) -> str:
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"


def _first(states: Any) -> bool:
    """Return the current one of two states; the second takes effect at the next restart."""
    return bool(states[0])


IDENTITY = (
    _field("name", "nvmlDeviceGetName"),
    _field("uuid", "nvmlDeviceGetUUID"),
    _field("pci_address", "nvmlDeviceGetPciInfo", convert=_pci_address),
    _field("minor", "nvmlDeviceGetMinorNumber"),
    _field("compute_capability", "nvmlDeviceGetCudaComputeCapability", convert=tuple),
)
SAMPLED = (  # fields of ``GpuSample``, too
    _field("utilization_percent", "nvmlDeviceGetUtilizationRates", convert=lambda rates: rates.gpu),
    _field("power_watts", "nvmlDeviceGetPowerUsage", convert=_watts),
    _field("sm_clock_mhz", "nvmlDeviceGetClockInfo", SM_CLOCK),
    _field("clock_event_reasons", "nvmlDeviceGetCurrentClocksEventReasons|nvmlDeviceGetCurrentClocksThrottleReasons"),
    _field("temperature_celsius", "nvmlDeviceGetTemperature|nvmlDeviceGetTemperatureV", GPU_SENSOR),
)
READINGS = (
    _field("persistence_mode", "nvmlDeviceGetPersistenceMode", convert=bool),
    _field("compute_mode", "nvmlDeviceGetComputeMode", convert=lambda mode: COMPUTE_MODES[mode]),
    _memory,
    _remapped_rows,
    _field("ecc_enabled", "nvmlDeviceGetEccMode", convert=_first),
    _field("ecc_uncorrected_volatile", "nvmlDeviceGetTotalEccErrors", UNCORRECTED, VOLATILE),
    _field("ecc_uncorrected_aggregate", "nvmlDeviceGetTotalEccErrors", UNCORRECTED, AGGREGATE),
    _field("retired_pages_pending", "nvmlDeviceGetRetiredPagesPendingStatus", convert=bool),
    _recovery,
    *SAMPLED,
    _field("temperature_slowdown_celsius", "nvmlDeviceGetTemperatureThreshold", SLOWDOWN),
    _field("power_limit_watts", "nvmlDeviceGetPowerManagementLimit|nvmlDeviceGetEnforcedPowerLimit", convert=_watts),
    _field("power_default_limit_watts", "nvmlDeviceGetPowerManagementDefaultLimit", convert=_watts),
    _field("sm_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", SM_CLOCK),
    _nvlinks,
    _field("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration"),
    # Of this GPU in this slot, so a slower slot is not a fault.
    _field("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration"),
    _field("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),
    _field("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth"),
    _fabric,
    _mig,
    _processes,
)
