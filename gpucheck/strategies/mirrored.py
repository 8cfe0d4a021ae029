"""Mirrored: every GPU holds a replica of the model; on a machine without one, logical CPU devices do."""

from __future__ import annotations

from typing import Any

LEVEL = 0
PRECISIONS = ("float32",)


def placements(devices: list[str], everything: bool) -> list[tuple[str, ...]] | str:
    """One tuple of all GPUs, or of all logical CPU devices."""
    for kind in ("GPU", "CPU"):
        chosen = tuple(device for device in devices if device.startswith(kind))
        if chosen:
            return [chosen]
    return "TensorFlow lists no CPU and no GPU"


def build(tf: Any, devices: tuple[str, ...]) -> Any:
    """A strategy with one replica per device; gradients are summed by NCCL where there are several GPUs."""
    return tf.distribute.MirroredStrategy(["/" + device for device in devices])
