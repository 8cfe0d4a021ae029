"""Data parallel: Keras' own distribution for JAX, which copies the model to every device and splits each batch."""

from __future__ import annotations

from gpucheck.core.training.strategies import PlannedJob, Strategy
from gpucheck.core.training.strategies.mirrored import counts


def jobs(devices: list[str], full: bool, every: bool) -> list[PlannedJob]:
    """Plan a job on all accelerators, or all CPU devices; with ``full`` also on 1, 2, 4, ... of them."""
    several = tuple(device for device in devices if not device.startswith("CPU")) or tuple(devices)
    return [PlannedJob(several[:count]) for count in counts(len(several), full)]


STRATEGY = Strategy(level=0, jobs=jobs, build=None, position=1, backends=("jax", "torch"))
