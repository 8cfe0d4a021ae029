"""One device: every accelerator on its own, or the CPU if there is none."""

from __future__ import annotations

from typing import Any

from gpucheck.core.training.strategies import PlannedJob, Strategy

PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16")  # the ones after the first only on accelerators, with --full


def jobs(devices: list[str], full: bool, every: bool) -> list[PlannedJob] | str:
    """Return the jobs to train, or the reason for none.

    Every accelerator; with ``full`` in every precision. With ``full``, also the first CPU in float32. Without an accelerator the
    first CPU takes its place, in float32 only: most CPUs emulate 16 bits, float16 in about 30 ms per sample (the experiment
    ``precision`` trains a few samples). Further logical CPUs share the cores; they train with ``full`` or ``every``.
    """
    accelerators = [device for device in devices if not device.startswith(("CPU", "TPU"))]
    cpus = [device for device in devices if device.startswith("CPU")]
    thorough = accelerators or cpus[:1]
    if not thorough:
        return "TensorFlow lists no CPU and no GPU"
    precisions = PRECISIONS if full and accelerators else PRECISIONS[:1]
    planned = [PlannedJob((device,), precision) for precision in precisions for device in thorough]
    if full:
        planned += [PlannedJob((device,), compiled=True) for device in thorough]
    others = cpus[1:] if not accelerators and (full or every) else cpus[:1] if accelerators and full else []
    planned[len(thorough) : len(thorough)] = [PlannedJob((device,)) for device in others]
    return planned


def build(tf: Any, devices: tuple[str, ...], cross_device: str | None) -> Any:
    """Return a strategy that places variables and computation on the one device."""
    return tf.distribute.OneDeviceStrategy("/" + devices[0])


STRATEGY = Strategy(level=0, jobs=jobs, build=build, position=0, backends=("tensorflow", "jax", "torch"))
