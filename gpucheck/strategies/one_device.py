"""One device: every accelerator on its own, or the CPU where there is none."""

from __future__ import annotations

from typing import Any

LEVEL = 0  # from the default level on
PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16")  # the ones after the first only with --full


def placements(devices: list[str], everything: bool) -> list[tuple[str, ...]] | str:
    """Device tuples to train on; the CPU only where it is the only kind, or with ``everything``."""
    accelerators = [device for device in devices if not device.startswith("CPU")]
    cpus = [device for device in devices if device.startswith("CPU")][:1]
    chosen = accelerators + (cpus if everything or not accelerators else [])
    return [(device,) for device in chosen if not device.startswith("TPU")] or "TensorFlow lists no CPU and no GPU"


def build(tf: Any, devices: tuple[str, ...]) -> Any:
    """A strategy that places variables and computation on the one device."""
    return tf.distribute.OneDeviceStrategy("/" + devices[0])
