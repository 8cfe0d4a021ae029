"""Mirrored: every GPU holds a replica of the model; on a machine without a GPU, logical CPU devices do."""

from __future__ import annotations

import itertools
from typing import Any

from gpucheck.core.training.strategies import PlannedJob, Strategy

_groups = itertools.count(1)


def jobs(devices: list[str], full: bool, every: bool) -> list[PlannedJob] | str:
    """Return the jobs to train, or the reason for none.

    On all GPUs, or all logical CPU devices; with ``full`` also on 1, 2, 4, ... of them, to measure scaling.
    """
    for kind in ("GPU", "CPU"):
        chosen = tuple(device for device in devices if device.startswith(kind))
        if chosen:
            return [PlannedJob(chosen[:count]) for count in counts(len(chosen), full)]
    return "TensorFlow lists no CPU and no GPU"


def counts(total: int, full: bool) -> list[int]:
    """Return the numbers of devices that train together: all; with ``full`` also 1, 2, 4, ..."""
    return [*([1 << power for power in range(total.bit_length()) if 1 << power < total] if full else []), total]


def build(tf: Any, devices: tuple[str, ...], cross_device: str | None) -> Any:
    """Return a strategy with one replica per device; NCCL sums the gradients of several GPUs.

    Args:
        tf: TensorFlow.
        devices: logical names.
        cross_device: None, "hierarchical_copy" or "reduction_to_one": how to sum gradients instead, without NCCL.
    """
    reductions = {
        "hierarchical_copy": tf.distribute.HierarchicalCopyAllReduce,
        "reduction_to_one": tf.distribute.ReductionToOneDevice,
    }

    class Mirrored(tf.distribute.MirroredStrategy):  # type: ignore[misc]
        # Every strategy numbers the groups of its collective operations from the same start. A second strategy in one process,
        # on other devices, would fail with "joining a group with size 8, but that group has size 2".
        _collective_key_base = 10_000 * next(_groups)

    return Mirrored(["/" + device for device in devices], cross_device_ops=reductions[cross_device]() if cross_device else None)


STRATEGY = Strategy(level=0, jobs=jobs, build=build, position=1)
