"""Multi-worker mirrored: one process per worker, gradients summed over the network.

Trains two workers on this machine, or this machine's worker of a real cluster (``gpucheck/core/cluster/members.py``
decides). Keras 3's ``fit`` does not train under this strategy, so the workers train with a ``strategy.run`` loop
(``gpucheck/core/training/worker.py``) and report the error of ``fit``.
"""

from __future__ import annotations

from typing import Any

from gpucheck.core.training.strategies import Strategy


def build(tf: Any, devices: tuple[str, ...], cross_device: str | None) -> Any:
    """Build a worker's strategy from TF_CONFIG; waits for the others. TensorFlow sums with NCCL on GPUs, in a ring on CPUs."""
    return tf.distribute.MultiWorkerMirroredStrategy()


STRATEGY = Strategy(
    level=2,  # every worker imports TensorFlow again
    build=build,
    not_in_bench="gpucheck bench measures one process; `gpucheck --full --strategy multi_worker_mirrored` trains with several",
)
