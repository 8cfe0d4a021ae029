"""Batch normalization on several replicas: over each replica's own part of the batch, or synchronized over all of it.

Keras' default is local: every replica normalizes by the mean and variance of its own samples, which is another function than one
device computes, and the replicas' moving statistics drift apart (what is saved are the first replica's). With
``synchronized=True`` they must be those of the whole global batch.
"""

from __future__ import annotations

from typing import Any

from gpucheck.child.experiments import Setting
from gpucheck.child.smoke import network
from gpucheck.experiments._comparison import Comparison, finite, forget, replicas, tf32

STEPS = 6
# In standard deviations. The statistics are read back from moving averages, of which one step is a hundredth: that makes some
# 1e-5 out of float32's rounding, more in a channel that varies little. Measured on a CPU: 2e-4 from the exact ones, while the
# halves of a batch of 32 are 0.13 apart.
TOLERANCE = 5e-3


def run(setting: Setting) -> dict[str, Any]:
    """One step, whose statistics are compared with the exact ones, and a few more for the loss."""
    import numpy as np

    devices = replicas(setting)[:2]  # more would show nothing else, and tracing takes time on each
    with tf32(setting.tf, False):
        losses, found, inputs = _trained(setting, devices, synchronized=False)
        whole = [inputs] * len(devices)
        local, from_global = _distance(found, np.split(inputs, len(devices))), _distance(found, whole)
        synchronized_losses, found, _ = _trained(setting, devices, synchronized=True)
        synchronized = _distance(found, whole)
    forget(setting.keras)
    problem = None
    if not synchronized <= TOLERANCE:
        problem = (
            f"with synchronized=True the statistics of batch normalization are {synchronized:.2g} standard deviations from those"
            f" of the global batch (each replica's own: {from_global:.2g})"
        )
    elif not local <= TOLERANCE:
        problem = f"a replica's batch normalization is {local:.2g} standard deviations from its own batch"
    return {
        "devices": devices,
        "problem": problem,
        "figures": finite(
            {
                "replicas": len(devices),
                "per_replica_batch_size": network.batch_size(devices[0]),
                "steps": STEPS,
                "synchronized_distance_from_global_batch": synchronized,
                "local_distance_from_global_batch": from_global,
                "local_distance_from_own_batch": local,
                "synchronized_first_loss": synchronized_losses[0],
                "synchronized_last_loss": synchronized_losses[-1],
                "local_first_loss": losses[0],
                "local_last_loss": losses[-1],
            }
        ),
    }


def _trained(setting: Setting, devices: list[str], synchronized: bool) -> tuple[list[float], list[tuple[Any, Any]], Any]:
    """Losses, each replica's statistics in the first step, and the normalized layer's input then: (samples, 32, 32, channels)."""
    import numpy as np

    global_batch = len(devices) * network.batch_size(devices[0])
    images, labels = network.arrays(STEPS * global_batch)
    job = Comparison(setting, devices, synchronized)
    convolution, normalization, *_ = job.model.layers
    with setting.tf.device("/" + setting.names[devices[0]]):
        inputs = np.asarray(convolution(images[:global_batch])).astype("float64")
    source = job.feed(images, labels, global_batch)
    first = job.losses(source, 1)
    statistics = _statistics(normalization)
    return first + job.losses(source, STEPS - 1), statistics, inputs


def _statistics(layer: Any) -> list[tuple[Any, Any]]:
    """Mean and variance (per channel) that each replica's first step has put into the layer's moving averages of 0 and 1."""
    new = 1.0 - layer.momentum
    mean, variance = (getattr(variable, "_value", variable) for variable in (layer.moving_mean, layer.moving_variance))
    return [
        (one.numpy().astype("float64") / new, (other.numpy().astype("float64") - layer.momentum) / new)
        for one, other in zip(mean.values, variance.values)
    ]


def _distance(found: list[tuple[Any, Any]], samples: list[Any]) -> float:
    """The largest distance of any replica's statistics from the exact ones of its samples, over all channels.

    A mean's in standard deviations, a variance's relative to itself, with the epsilon that normalization adds.
    """
    import numpy as np

    epsilon = 1e-3
    worst = []
    for (mean, variance), values in zip(found, samples):
        exact = values.var(axis=(0, 1, 2)) + epsilon
        worst += [np.abs(mean - values.mean(axis=(0, 1, 2))) / np.sqrt(exact), np.abs(variance + epsilon - exact) / exact]
    return float(np.max(worst))
