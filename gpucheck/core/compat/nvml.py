"""NVML's clock event reasons: why a GPU runs below its maximum clocks.

Source: NVIDIA/go-nvml gen/nvml/nvml.h, NVML API 13 (names, bits); which of them are harmful is our judgement.
"""

from typing import NamedTuple


class ClockEventReason(NamedTuple):
    """Why the clocks are below their maximum, and whether that is a fault which slows down training."""

    name: str
    harmful: bool


# A GPU at full load runs at its power limit: bit 0x4 is a fault only if that limit was lowered.
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
    """Return the names of the reasons in a mask, lowest bit first; unknown bits are left out."""
    return [reason.name for bit, reason in CLOCK_EVENT_REASONS.items() if mask & bit]


def harmful_reasons(mask: int) -> list[str]:
    """Return the harmful reasons in a mask; HwSlowdown only under load, because some cards set it while they change state."""
    idle = mask & 0x1
    return [
        reason.name
        for bit, reason in CLOCK_EVENT_REASONS.items()
        if mask & bit and reason.harmful and not (idle and reason.name == "HwSlowdown")
    ]
