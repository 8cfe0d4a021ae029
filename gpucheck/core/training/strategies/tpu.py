"""TPU: all cores of a connected TPU."""

from __future__ import annotations

import os
from typing import Any

from gpucheck.core.training.strategies import PlannedJob, Strategy

PRECISIONS = ("float32", "mixed_bfloat16")

_resolvers: list[Any] = []  # the connected one; TensorFlow accepts one TPU system per process


def connect(tf: Any) -> int:
    """Connect to the TPU that the environment selects, or the local one, and count its devices.

    Raises TensorFlow's exceptions. May block for minutes, so the caller must limit it.
    """
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=os.environ.get("TPU_NAME") or "local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    _resolvers.append(resolver)
    return len(tf.config.list_logical_devices("TPU"))


def jobs(devices: list[str], full: bool, every: bool) -> list[PlannedJob] | str:
    """Return the job to train, on all TPU devices, or the reason for none."""
    chosen = tuple(device for device in devices if device.startswith("TPU"))
    if not chosen:
        return "no TPU is connected"
    return [PlannedJob(chosen, precision) for precision in PRECISIONS[: None if full else 1]]


def build(tf: Any, devices: tuple[str, ...], cross_device: str | None) -> Any:
    """Return a strategy with one replica per TPU device."""
    return tf.distribute.TPUStrategy(_resolvers[-1])


STRATEGY = Strategy(
    level=0,
    jobs=jobs,
    build=build,
    steps_per_execution=4,  # a TPU waits for its host after every execution, so users run several steps in one
    report_if_skipped=False,  # most machines have none
)
