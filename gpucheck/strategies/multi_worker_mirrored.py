"""Multi-worker mirrored: one process per worker, gradients summed over the network. Here: two workers on this machine.

Keras 3's ``fit`` does not train under this strategy ("Attempt to convert a value (PerReplica ...)"), so the workers train with
a ``strategy.run`` loop (``gpucheck/child/worker.py``).
"""

from __future__ import annotations

from typing import Any

LEVEL = 2  # with --full only: every worker imports TensorFlow again
PRECISIONS = ("float32",)
WORKERS = 2


def jobs(devices: list[str], full: bool, every: bool) -> list[tuple[tuple[str, ...], str, bool]] | str:
    """Nothing in this process: workers are processes of their own."""
    return []


def build(tf: Any, devices: tuple[str, ...]) -> Any:
    """The strategy of one worker, from TF_CONFIG. RING works on CPUs and on GPUs that have no NCCL path."""
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.RING
    )
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
