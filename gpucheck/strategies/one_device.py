"""One device: every accelerator on its own, or the CPU where there is none."""

from __future__ import annotations

from typing import Any

LEVEL = 0  # from the default level on
PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16")  # the ones after the first only with --full


def jobs(devices: list[str], full: bool, every: bool) -> list[tuple[tuple[str, ...], str, bool]] | str:
    """What to train: (devices, precision, compiled by XLA); or why nothing.

    Every accelerator, in every precision with ``full``. Where CPUs are the only kind, the first one like an accelerator, and
    further logical ones (the same cores) in float32 alone, with ``full`` or ``every``. Beside accelerators, with ``full``, the
    first CPU in float32.
    """
    accelerators = [device for device in devices if not device.startswith(("CPU", "TPU"))]
    cpus = [device for device in devices if device.startswith("CPU")]
    thorough = accelerators or cpus[:1]
    if not thorough:
        return "TensorFlow lists no CPU and no GPU"
    found: list[tuple[tuple[str, ...], str, bool]] = [
        ((device,), precision, False) for precision in PRECISIONS[: None if full else 1] for device in thorough
    ]
    if full:
        found += [((device,), "float32", True) for device in thorough]
    others = cpus[1:] if not accelerators and (full or every) else cpus[:1] if accelerators and full else []
    found[len(thorough) : len(thorough)] = [((device,), "float32", False) for device in others]
    return found


def build(tf: Any, devices: tuple[str, ...]) -> Any:
    """A strategy that places variables and computation on the one device."""
    return tf.distribute.OneDeviceStrategy("/" + devices[0])
