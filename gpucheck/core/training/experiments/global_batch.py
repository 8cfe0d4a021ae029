"""Test the effect of several replicas on the loss: none with the same global batch, a large one with the same per-replica batch.

Fixed global batch (for convergence): every replica gets a part of one device's batch, and the loss must be
equal. Fixed per-replica batch (for throughput): every replica gets a whole batch, so a step averages over more samples, and the
same number of samples makes fewer updates.
"""

from __future__ import annotations

import statistics

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import Setting
from gpucheck.core.training.experiments._measure import Comparison, finite, percent, relative_difference, replicas, tf32
from gpucheck.core.training.smoke import network

STEPS = 6
# Relative. With any division of the batch, a float32 loss without TF32 is equal except for rounding (measured on a CPU: 2e-7).
# A loss that is not averaged over the replicas is wrong by a factor of their number. The loss of a single replica differs as much
# as parts of a batch do (measured: 0.06). Wrong synchronized statistics change it by any amount.
TOLERANCE = 1e-4
NEAR = 0.05  # relative difference from the reference times, or divided by, the number of replicas: parts of a batch differ less


def run(setting: Setting) -> ExperimentResult:
    """Train N replicas, one device on the same global batch, and one device on one replica's batch."""
    devices = replicas(setting)
    count, per_replica = len(devices), network.batch_size(devices[0])
    together = count * per_replica
    several, single, small = _losses(setting, devices, per_replica)
    return ExperimentResult(
        devices=tuple(devices),
        problem=problem(several[0], single[0], count, together),
        figures=finite(
            {
                "replicas": count,
                "steps": STEPS,
                "per_replica_batch_size": per_replica,
                "global_batch_size": together,
                "first_loss_of_replicas": several[0],
                "first_loss_of_one_device_same_global_batch": single[0],
                "first_loss_relative_difference": relative_difference(several[0], single[0]),
                "last_loss_of_replicas": several[-1],
                "last_loss_of_one_device_same_global_batch": single[-1],
                "last_loss_relative_difference": relative_difference(several[-1], single[-1]),
                # One device with one replica's batch needs several steps for the samples of the replicas' last step.
                "same_steps_last_loss_of_one_device_same_per_replica_batch": statistics.fmean(small[STEPS - count : STEPS]),
                "same_samples_last_loss_of_one_device_same_per_replica_batch": statistics.fmean(small[-count:]),
            }
        ),
    )


def problem(several: float, single: float, count: int, samples: int) -> str | None:
    """Return the difference of the first losses of replicas and one device, with the likely cause; None if they are equal."""
    difference = relative_difference(several, single)
    if difference <= TOLERANCE:
        return None
    words = f"the same {samples} samples give a first loss of {several:.6g} on {count} replicas and of {single:.6g} on one device"
    if min(relative_difference(several, single * count), relative_difference(several, single / count)) < NEAR:
        return f"{words}: it is not averaged over the global batch"
    return f"{words}, a difference of {percent(difference, TOLERANCE)}; up to {100 * TOLERANCE:g} % is rounding"


def _losses(setting: Setting, devices: list[str], per_replica: int) -> tuple[list[float], list[float], list[float]]:
    """Return losses on the same samples: of the replicas, of one device with their global batch, and with one replica's batch."""
    count = len(devices)
    together = count * per_replica
    images, labels = network.arrays(STEPS * together)
    with tf32(setting.tf, False):
        job = Comparison(setting, devices, synchronized=True)
        several = job.losses(job.feed(images, labels, together), STEPS)
        job = Comparison(setting, devices[:1])
        initial = [variable.numpy() for variable in job.trainer.variables]
        single = job.losses(job.feed(images, labels, together), STEPS)
        job.trainer.reset(initial)
        return several, single, job.losses(job.feed(images, labels, per_replica), STEPS * count)
