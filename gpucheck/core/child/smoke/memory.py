"""Device memory as TensorFlow's allocator counts it. Bytes; None where it does not count (a CPU, an old TensorFlow)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def reset(tf: Any, devices: Iterable[str]) -> None:
    """Begin to count the peak anew; ``devices`` are logical names."""
    for device in devices:
        if device.startswith("GPU"):
            try:
                tf.config.experimental.reset_memory_stats(device)
            except (AttributeError, ValueError):
                return


def peak(tf: Any, devices: Iterable[str]) -> int | None:
    """The most that was in use at once on one device, the fullest of them."""
    return _most(tf, devices, "peak")


def current(tf: Any, devices: Iterable[str]) -> int | None:
    """What is in use now on one device, the fullest of them."""
    return _most(tf, devices, "current")


def _most(tf: Any, devices: Iterable[str], which: str) -> int | None:
    try:
        amounts = [tf.config.experimental.get_memory_info(device)[which] for device in devices if device.startswith("GPU")]
    except (AttributeError, ValueError, KeyError):
        return None
    return max(amounts, default=None)
