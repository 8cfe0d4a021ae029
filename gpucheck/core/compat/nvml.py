"""NVML's results and bit masks: failed calls, why a GPU is below its maximum clocks, and what is wrong with its NVLink fabric.

Source: NVIDIA/go-nvml gen/nvml/nvml.h, NVML API 13 (names, bits); which of them are harmful is our judgement.
"""

from gpucheck.core.compat.xid import Remedy

# Results (nvmlReturn_t) that are normal on a machine without a GPU: driver not loaded, library or function not found (a stub),
# GPU not found
WITHOUT_GPU = (6, 9, 12, 13, 28)
NOT_PERMITTED = (4, 17)  # no permission; blocked by the operating system or a control group
LIBRARY_NOT_FOUND = 12
RESET_REQUIRED = 16
VERSION_MISMATCH = 18  # of the library and the kernel module
FABRIC_NOT_READY = 27
GPU_NOT_FOUND = 28
UNKNOWN_ERROR = 999
GPU_LOST = (8, 10, 11, 15, RESET_REQUIRED)  # of one GPU: power cables, timeout, interrupts, lost
_ACTIONS: dict[int, Remedy] = {8: "service", RESET_REQUIRED: "reset-gpu"}  # 8: the power cables
HANDLE_LOST = (*GPU_LOST, UNKNOWN_ERROR)  # for a GPU's handle, "unknown error" means the same


def action_of(result: int | None) -> Remedy:
    """Return the action that a lost GPU requires; None: NVML returned no result for it."""
    return _ACTIONS.get(result or 0, "power-cycle")


# Why the clocks are below their maximum. A GPU at full load runs at its power limit: bit 0x4 is a fault only if that was lowered.
CLOCK_EVENT_REASONS = {
    0x1: "GpuIdle",
    0x2: "ApplicationsClocksSetting",
    0x4: "SwPowerCap",
    0x8: "HwSlowdown",
    0x10: "SyncBoost",
    0x20: "SwThermalSlowdown",
    0x40: "HwThermalSlowdown",
    0x80: "HwPowerBrakeSlowdown",
    0x100: "DisplayClockSetting",
}
_IDLE, _HW_SLOWDOWN = 0x1, 0x8
_HARMFUL = _HW_SLOWDOWN | 0x20 | 0x40 | 0x80  # faults, which slow down training


def reasons(mask: int) -> list[str]:
    """Return the names of the reasons in a mask, lowest bit first; unknown bits are left out."""
    return [name for bit, name in CLOCK_EVENT_REASONS.items() if mask & bit]


def harmful_reasons(mask: int) -> list[str]:
    """Return the harmful reasons in a mask; HwSlowdown only under load, because some cards set it while they change state."""
    return reasons(mask & _HARMFUL & ~(_HW_SLOWDOWN if mask & _IDLE else 0))


# NVML_GPU_FABRIC_HEALTH_MASK_*: first bit and width of each part -> value -> its meaning. 0 is "not supported" in each part.
_FABRIC_FAULTS: dict[tuple[int, int], dict[int, str]] = {
    (0, 2): {1: "its bandwidth is degraded"},
    (2, 2): {1: "a route is recovering"},
    (4, 2): {1: "a route is unhealthy"},
    (6, 2): {1: "it is recovering from an access timeout"},
    (8, 4): {
        2: "its system GUID is wrong",
        3: "its chassis serial number is wrong",
        4: "it is in no partition",
        5: "it has too few NVLinks",
        6: "its firmware is incompatible",
        7: "its location is invalid",
        8: "its state is invalid",
    },
}


def fabric_faults(mask: int) -> list[str]:
    """Return descriptions of the faults in a fabric's health mask; empty for a healthy fabric."""
    parts = ((faults, mask >> shift & ((1 << width) - 1)) for (shift, width), faults in _FABRIC_FAULTS.items())
    return [faults[value] for faults, value in parts if value in faults]
