"""Test batch normalization on several replicas: local to each replica's part of the batch, or synchronized over the global batch.

Keras' default is local: every replica normalizes by the mean and variance of its own samples. The result differs from one
device's, and the replicas' moving statistics diverge (those of the first replica are saved). With
``synchronized=True``, the statistics must be those of the global batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import Setting
from gpucheck.core.training.experiments._measure import Comparison, finite, replicas, tf32
from gpucheck.core.training.smoke import network

STEPS = 6
# In standard deviations, or relative to a variance. The statistics are computed from moving averages, to which one step
# contributes a hundredth. This increases float32's rounding error to about 1e-5, more in a channel with little variation.
# Measured on a CPU: 2e-4 from the exact values; the two halves of a batch of 32 differ by 0.13.
TOLERANCE = 5e-3


class Distance(NamedTuple):
    """The distance of a replica's statistics from the exact ones."""

    value: float
    statistic: str  # "mean": the distance is in standard deviations; "variance": it is relative to the variance

    def __str__(self) -> str:
        return f"{self.value:.2g} standard deviations" if self.statistic == "mean" else f"{100 * self.value:.3g} %"


def run(setting: Setting) -> ExperimentResult:
    """Train one step, compare its statistics with the exact ones, and train a few more steps for the loss."""
    import numpy as np

    devices = replicas(setting)[:2]  # more replicas would show the same, and each takes time to trace
    with tf32(setting.tf, False):
        losses, statistics, inputs = _trained(setting, devices, synchronized=False)
        whole = [inputs] * len(devices)
        local, from_global = _distance(statistics, np.split(inputs, len(devices))), _distance(statistics, whole)
        synchronized_losses, statistics, _ = _trained(setting, devices, synchronized=True)
        synchronized = _distance(statistics, whole)
    return ExperimentResult(
        devices=tuple(devices),
        problem=problem(synchronized, from_global, local),
        figures=finite(
            {
                "replicas": len(devices),
                "per_replica_batch_size": network.batch_size(devices[0]),
                "steps": STEPS,
                "synchronized_distance_from_global_batch": synchronized.value,
                "local_distance_from_global_batch": from_global.value,
                "local_distance_from_own_batch": local.value,
                "synchronized_first_loss": synchronized_losses[0],
                "synchronized_last_loss": synchronized_losses[-1],
                "local_first_loss": losses[0],
                "local_last_loss": losses[-1],
            }
        ),
    )


def problem(synchronized: Distance, unsynchronized: Distance, local: Distance) -> str | None:
    """Return the error of the statistics; None if they are correct.

    Args:
        synchronized: from the global batch, with synchronized=True.
        unsynchronized: from the global batch, without.
        local: from the replica's own batch, without.
    """
    if not synchronized.value <= TOLERANCE:
        return (
            f"with synchronized=True the {synchronized.statistic} of batch normalization is {synchronized} from that of the"
            f" global batch (without it, the {unsynchronized.statistic} is {unsynchronized} from it)"
        )
    if not local.value <= TOLERANCE:
        return f"a replica's {local.statistic} of batch normalization is {local} from that of its own batch"
    return None


def _trained(setting: Setting, devices: list[str], synchronized: bool) -> tuple[list[float], list[tuple[Any, Any]], Any]:
    """Return the losses, and for the first step each replica's statistics and the layer's input: (samples, 32, 32, channels)."""
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
    """Return each replica's mean and variance per channel, from the layer's moving averages (0 and 1 at first) after a step."""
    new = 1.0 - layer.momentum
    mean, variance = (getattr(variable, "_value", variable) for variable in (layer.moving_mean, layer.moving_variance))
    return [
        (mean_value.numpy().astype("float64") / new, (other.numpy().astype("float64") - layer.momentum) / new)
        for mean_value, other in zip(mean.values, variance.values)
    ]


def _distance(statistics: list[tuple[Any, Any]], samples: list[Any]) -> Distance:
    """Return the largest distance of any replica's statistics from the exact ones of its samples, over all channels.

    That of a mean is in standard deviations, that of a variance is relative to it; both include normalization's epsilon.
    """
    import numpy as np

    epsilon = 1e-3
    worst = []
    for (mean, variance), values in zip(statistics, samples):
        exact = values.var(axis=(0, 1, 2)) + epsilon
        worst += [np.abs(mean - values.mean(axis=(0, 1, 2))) / np.sqrt(exact), np.abs(variance + epsilon - exact) / exact]
    largest = [float(np.max(distances)) for distances in worst]
    place = int(np.argmax(largest))  # the position of a NaN if there is one
    return Distance(largest[place], ("mean", "variance")[place % 2])
