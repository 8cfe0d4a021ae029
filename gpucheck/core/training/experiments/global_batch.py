"""The effect of several replicas on the loss: none with the same global batch, a large one with the same per-replica batch.

Fixed global batch (for convergence): every replica takes its part of the batch that one device would have, and the loss must be
the same. Fixed per-replica batch (for throughput): every replica takes as much as one device had, so that a step averages over
more samples; the same number of samples then makes fewer updates.
"""

from __future__ import annotations

import statistics

from gpucheck.core.child.experiments import Setting
from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.child.smoke import network
from gpucheck.core.training.experiments._measure import Comparison, finite, forget, percent, relative_difference, replicas, tf32

STEPS = 6
# Relative. However the batch is divided, a float32 loss without TF32 is the same but for rounding (measured on a CPU: 2e-7). One
# that is not averaged over the replicas is off by their number; one of a single replica by what the parts of a batch differ
# (measured: 0.06); one whose synchronized statistics are wrong by anything.
TOLERANCE = 1e-4
NEAR = 0.05  # relative, of a loss to the one times or over the number of replicas: parts of a batch don't differ that much


def run(setting: Setting) -> ExperimentResult:
    """Train N replicas, one device on the same global batch, and one device on one replica's batch."""
    devices = replicas(setting)
    count, per_replica = len(devices), network.batch_size(devices[0])
    together = count * per_replica
    several, single, small = _losses(setting, devices, per_replica)
    forget(setting.keras)
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
                # One device on one replica's batch: the replicas' last step took as many samples as its last steps together.
                "same_steps_last_loss_of_one_device_same_per_replica_batch": statistics.fmean(small[STEPS - count : STEPS]),
                "same_samples_last_loss_of_one_device_same_per_replica_batch": statistics.fmean(small[-count:]),
            }
        ),
    )


def problem(several: float, single: float, count: int, samples: int) -> str | None:
    """How the first losses of replicas and of one device differ, with the likely cause; None: they are equal."""
    difference = relative_difference(several, single)
    if difference <= TOLERANCE:
        return None
    words = f"the same {samples} samples give a first loss of {several:.6g} on {count} replicas and of {single:.6g} on one device"
    if min(relative_difference(several, single * count), relative_difference(several, single / count)) < NEAR:
        return f"{words}: it is not averaged over the global batch"
    return f"{words}, {percent(difference, TOLERANCE)} apart; up to {100 * TOLERANCE:g} % is rounding"


def _losses(setting: Setting, devices: list[str], per_replica: int) -> tuple[list[float], list[float], list[float]]:
    """Of the replicas, of one device on the same global batch, and of one device on one replica's batch; on the same samples."""
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
