"""One device: every accelerator on its own, or the CPU if there is none."""

from __future__ import annotations

from typing import Any

from gpucheck.core.training.strategies import Strategy, Wanted

PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16")  # the ones after the first only with --full


def jobs(devices: list[str], full: bool, every: bool) -> list[Wanted] | str:
    """What to train, or why nothing.

    Every accelerator, in every precision with ``full``. Where CPUs are the only kind, the first one like an accelerator, but not
    in mixed_float16: a CPU emulates it, in some 30 ms a sample, and the experiment ``precision`` trains a few. Further logical
    CPUs (the same cores) in float32 alone, with ``full`` or ``every``. Beside accelerators, with ``full``, the first CPU in
    float32.
    """
    accelerators = [device for device in devices if not device.startswith(("CPU", "TPU"))]
    cpus = [device for device in devices if device.startswith("CPU")]
    thorough = accelerators or cpus[:1]
    if not thorough:
        return "TensorFlow lists no CPU and no GPU"
    precisions = [name for name in PRECISIONS if accelerators or name != "mixed_float16"]
    wanted = [Wanted((device,), precision) for precision in precisions[: None if full else 1] for device in thorough]
    if full:
        wanted += [Wanted((device,), compiled=True) for device in thorough]
    others = cpus[1:] if not accelerators and (full or every) else cpus[:1] if accelerators and full else []
    wanted[len(thorough) : len(thorough)] = [Wanted((device,)) for device in others]
    return wanted


def build(tf: Any, devices: tuple[str, ...], cross_device: str | None) -> Any:
    """A strategy that places variables and computation on the one device."""
    return tf.distribute.OneDeviceStrategy("/" + devices[0])


STRATEGY = Strategy(level=0, jobs=jobs, build=build, position=0, backends=("tensorflow", "jax", "torch"))
