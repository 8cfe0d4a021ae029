"""Device memory in bytes, from TensorFlow's allocator; None if the allocator does not report it (a CPU, an old TensorFlow)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def reset(tf: Any, devices: Iterable[str]) -> None:
    """Reset the peak; ``devices`` are logical names."""
    for device in devices:
        if device.startswith("GPU"):
            try:
                tf.config.experimental.reset_memory_stats(device)
            except (AttributeError, ValueError):
                return


def peak(tf: Any, devices: Iterable[str]) -> int | None:
    """Return the peak use of the device with the highest."""
    return _highest(tf, devices, "peak")


def current(tf: Any, devices: Iterable[str]) -> int | None:
    """Return the highest current use of any device."""
    return _highest(tf, devices, "current")


def _highest(tf: Any, devices: Iterable[str], which: str) -> int | None:
    try:
        amounts = [tf.config.experimental.get_memory_info(device)[which] for device in devices if device.startswith("GPU")]
    except (AttributeError, ValueError, KeyError):
        return None
    return max(amounts, default=None)
