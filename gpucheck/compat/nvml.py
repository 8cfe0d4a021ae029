"""NVML return codes and clock event reasons.

Sources: NVIDIA/go-nvml gen/nvml/nvml.h, NVML API 13 (codes, names, bits); meanings and diagnoses are ours. On a healthy
H200 many queries return 3 (not supported): an unanswered query is no fault.
"""

from typing import NamedTuple


class NvmlResult(NamedTuple):
    """An nvmlReturn_t: its name, what it says about the machine, and the diagnoses to consider, likeliest first."""

    name: str
    meaning: str
    codes: tuple[str, ...]
    fatal: bool  # no work on that GPU (or on any) while it lasts, whichever query returned it


class ClockEventReason(NamedTuple):
    """Why the clocks are below their maximum, and whether a training run suffers from a fault by it."""

    name: str
    harmful: bool


NVML_RESULTS: dict[int, NvmlResult] = {
    0: NvmlResult("NVML_SUCCESS", "the call succeeded", (), False),
    1: NvmlResult("NVML_ERROR_UNINITIALIZED", "asked before nvmlInit or after nvmlShutdown", (), False),
    2: NvmlResult("NVML_ERROR_INVALID_ARGUMENT", "no GPU of that index or UUID, or a bad argument", (), False),
    3: NvmlResult("NVML_ERROR_NOT_SUPPORTED", "this GPU does not answer that query", (), False),
    4: NvmlResult("NVML_ERROR_NO_PERMISSION", "this user may not ask that", ("device-permission-denied",), False),
    6: NvmlResult("NVML_ERROR_NOT_FOUND", "there is no such object", (), False),
    7: NvmlResult("NVML_ERROR_INSUFFICIENT_SIZE", "the buffer was too small", (), False),
    8: NvmlResult("NVML_ERROR_INSUFFICIENT_POWER", "the board's power cables are not attached", ("gpu-lost",), True),
    9: NvmlResult("NVML_ERROR_DRIVER_NOT_LOADED", "the kernel module is not loaded", ("driver-not-loaded",), True),
    10: NvmlResult("NVML_ERROR_TIMEOUT", "the GPU did not answer in time", ("gpu-lost",), False),
    11: NvmlResult("NVML_ERROR_IRQ_ISSUE", "the GPU's interrupts do not arrive", ("gpu-lost",), True),
    # nvmlSystemGetCudaDriverVersion_v2 returns it too: NVML is there and libcuda.so.1 is not.
    12: NvmlResult(
        "NVML_ERROR_LIBRARY_NOT_FOUND",
        "a library of the driver was not found",
        ("driver-library-missing", "driver-missing", "container-without-gpu"),
        True,
    ),
    13: NvmlResult("NVML_ERROR_FUNCTION_NOT_FOUND", "the driver is older than that query", (), False),
    14: NvmlResult("NVML_ERROR_CORRUPTED_INFOROM", "the board's own records are damaged", ("ecc-errors",), False),
    15: NvmlResult("NVML_ERROR_GPU_IS_LOST", "the GPU has fallen off the bus", ("gpu-lost",), True),
    16: NvmlResult("NVML_ERROR_RESET_REQUIRED", "the GPU waits for a reset", ("gpu-lost",), True),
    17: NvmlResult(
        "NVML_ERROR_OPERATING_SYSTEM",
        "the system or a cgroup blocks the device, as in a container after systemctl daemon-reload",
        ("device-permission-denied", "container-without-gpu"),
        True,
    ),
    18: NvmlResult(
        "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
        "kernel module and driver libraries are of different versions",
        ("driver-library-mismatch",),
        True,
    ),
    19: NvmlResult("NVML_ERROR_IN_USE", "refused while the GPU is in use", (), False),
    20: NvmlResult("NVML_ERROR_MEMORY", "the host is short of memory", ("host-memory-exhausted",), False),
    21: NvmlResult("NVML_ERROR_NO_DATA", "nothing has been recorded yet", (), False),
    23: NvmlResult("NVML_ERROR_INSUFFICIENT_RESOURCES", "the driver ran out of a resource", (), False),
    24: NvmlResult("NVML_ERROR_FREQ_NOT_SUPPORTED", "the GPU has no such clock", (), False),
    25: NvmlResult("NVML_ERROR_ARGUMENT_VERSION_MISMATCH", "the driver knows another form of that query", (), False),
    26: NvmlResult("NVML_ERROR_DEPRECATED", "the driver no longer answers that query", (), False),
    27: NvmlResult("NVML_ERROR_NOT_READY", "the system is still getting ready", ("fabric-manager-down",), False),
    28: NvmlResult("NVML_ERROR_GPU_NOT_FOUND", "the driver runs and found no GPU it supports", ("no-nvidia-gpu",), True),
    29: NvmlResult("NVML_ERROR_INVALID_STATE", "not possible in the present state", (), False),
    # From nvmlInit it mostly means that the container lost its devices; from a single query (WSL2) little.
    999: NvmlResult(
        "NVML_ERROR_UNKNOWN",
        "the driver gives no reason",
        ("device-permission-denied", "container-without-gpu", "cuda-init-failed"),
        False,
    ),
}

# A GPU at full load sits at its power limit: bit 0x4 is a fault only if somebody lowered that limit.
CLOCK_EVENT_REASONS: dict[int, ClockEventReason] = {
    0x1: ClockEventReason("GpuIdle", False),
    0x2: ClockEventReason("ApplicationsClocksSetting", False),
    0x4: ClockEventReason("SwPowerCap", False),
    0x8: ClockEventReason("HwSlowdown", True),
    0x10: ClockEventReason("SyncBoost", False),
    0x20: ClockEventReason("SwThermalSlowdown", True),
    0x40: ClockEventReason("HwThermalSlowdown", True),
    0x80: ClockEventReason("HwPowerBrakeSlowdown", True),
    0x100: ClockEventReason("DisplayClockSetting", False),
}


def reasons(mask: int) -> list[str]:
    """The names of the reasons in a mask, lowest bit first; unknown bits are left out."""
    return [reason.name for bit, reason in CLOCK_EVENT_REASONS.items() if mask & bit]


def harmful_reasons(mask: int) -> list[str]:
    """Those of them that are harmful; HwSlowdown only under load, because some cards set it while they change their state."""
    idle = mask & 0x1
    return [
        reason.name
        for bit, reason in CLOCK_EVENT_REASONS.items()
        if mask & bit and reason.harmful and not (idle and reason.name == "HwSlowdown")
    ]
