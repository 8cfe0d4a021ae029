"""Verify a few steps of training: figures from times and losses, the devices that ran the work, and whether the job passed."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable
from typing import Any, Tuple  # noqa: UP035 - Python 3.8

from gpucheck.core.child.messages.training import Loss, TrainingRun
from gpucheck.core.training.smoke.network import CLASSES

Placed = Tuple[str, str]  # noqa: UP006 - Python 3.8; an op, and the device that it ran on
HEAVY = re.compile(r"Conv2D|MatMul")  # the ops that must run on the device, including fused and vendor variants


def note_steps(result: TrainingRun, seconds: list[float], means: StepMeans) -> None:
    """Record times, losses and accuracy of the steps in a result.

    The first step includes tracing, compiling and autotuning, and is reported separately.
    """
    first, step = seconds[0], statistics.median(seconds[1:])
    losses, accuracies = means.losses, means.accuracies
    finite = all(math.isfinite(loss) for loss in losses)
    third = max(1, len(losses) // 3)
    early, late = (statistics.fmean(losses[:third]), statistics.fmean(losses[-third:])) if finite else (math.nan, math.nan)
    result.first_step_seconds = round(first, 4)
    result.step_seconds = round(step, 6)
    result.samples_per_second = round((result.global_batch_size or 0) / step, 1)
    result.loss = Loss(
        first=finite_or_none(losses[0]),
        last=finite_or_none(losses[-1]),
        first_third=finite_or_none(early),
        last_third=finite_or_none(late),
    )
    result.losses_finite = finite
    result.loss_fell = late < early if finite else None
    result.accuracy = finite_or_none(statistics.fmean(accuracies[-third:])) if accuracies else None


class StepMeans:
    """The values of each step, from the running mean of an epoch that Keras reports."""

    def __init__(self, losses: Iterable[float] = (), accuracies: Iterable[float] = ()) -> None:
        """Start, with the values of earlier steps if there are any."""
        self.losses: list[float] = list(losses)
        self.accuracies: list[float] = list(accuracies)
        self._sums = {"loss": 0.0, "accuracy": 0.0}

    def add(self, logs: dict[str, Any] | None) -> None:
        """Add the logs of Keras after a step."""
        for name, values in (("loss", self.losses), ("accuracy", self.accuracies)):
            total = float((logs or {}).get(name, math.nan)) * (len(values) + 1)
            values.append(total - self._sums[name])
            self._sums[name] = total


def note_weights(result: TrainingRun, trainable: list[Any], before: list[Any]) -> None:
    """Record in a result whether every variable changed, is finite on all replicas, and is bitwise equal on all of them."""
    import numpy as np

    reached, finite, equal = True, True, None
    for weight, old in zip(trainable, before):
        values = [weight.numpy()]
        reached = reached and not np.array_equal(values[0], old)
        replicas = getattr(getattr(weight, "_value", weight), "values", None)
        if replicas is not None and not callable(replicas) and len(replicas) > 1:
            values = [replica.numpy() for replica in replicas]
            equal = (equal is not False) and all(value.tobytes() == values[0].tobytes() for value in values)
        finite = finite and all(bool(np.isfinite(value).all()) for value in values)
    result.gradients_reach_weights, result.weights_finite, result.replicas_equal = reached, finite, equal


def tf32(tf: Any) -> bool | None:
    """Whether TensorFlow may use TF32 (NVIDIA, compute capability 8.0 and later): float32 products with 10-bit mantissas."""
    try:
        return bool(tf.config.experimental.tensor_float_32_execution_enabled())
    except AttributeError:
        return None


def note_numerics(result: TrainingRun, network: Any, tf32: bool | None, devices: Iterable[str]) -> None:
    """Record in a result the network's numerics: the output type, the final loss scale of float16, and TF32.

    Args:
        result: the job's result.
        network: the compiled network.
        tf32: whether the framework allows GPUs to use TF32.
        devices: names of the job's devices, short ("GPU:0") or full; TF32 applies only to GPUs.
    """
    scale = loss_scale(network.optimizer)
    result.output_dtype = str(network.layers[-1].compute_dtype)
    result.loss_scale = None if scale is None else finite_or_none(float(scale))
    result.tf32 = tf32 if any("GPU:" in device for device in devices) else None


def loss_scale(optimizer: Any) -> Any:
    """Return the factor by which a loss-scaling optimizer multiplies the loss, for float16 gradients; None: no loss scaling."""
    return getattr(optimizer, "dynamic_scale", getattr(optimizer, "loss_scale", None))


def record_placement() -> None:
    """Start collecting the graphs that TensorFlow executes in this process, as ``tf.summary.trace_on`` does."""
    try:
        from tensorflow.python.eager import context

        context.enable_graph_collection()
    except Exception:  # not a public interface: without it, placement is unknown, not wrong
        return


def recorded_placement() -> set[Placed] | None:
    """Stop collecting; return (op, device) of every heavy node that ran, or None if unavailable."""
    try:
        from tensorflow.python.eager import context

        metadata = context.export_run_metadata()
        context.disable_graph_collection()
    except Exception:
        return None
    nodes = (node for graph in metadata.partition_graphs for node in graph.node)
    return {(node.op, ":".join(node.device.split(":")[-2:])) for node in nodes if HEAVY.search(node.op)}


def note_placement(result: TrainingRun, placed: set[Placed] | None, devices: Iterable[str]) -> None:
    """Record in a result whether its work ran only on its devices, and on all of them; ``devices`` are names such as "GPU:0"."""
    if not placed:
        return
    expected = set(devices)
    misplaced = sorted(f"{op.lstrip('_')} on {device}" for op, device in placed if device not in expected)
    result.placement_verified = not misplaced and {device for _, device in placed} == expected
    result.misplaced_ops = tuple(misplaced[:20])


def problem(result: TrainingRun) -> str | None:
    """Return why a completed job did not pass; None if it passed."""
    if not result.losses_finite:
        return "the loss is not finite"
    if not result.weights_finite:
        return "some weights are not finite, although the loss is"
    if not result.loss_fell:
        early, late = result.loss.first_third, result.loss.last_third
        return f"the loss did not fall: its mean was {early:.3g} in the first third of the steps, {late:.3g} in the last"
    if result.accuracy is not None and result.accuracy < 2 / CLASSES:
        return f"the accuracy stayed near chance: {result.accuracy:.2f} on {CLASSES} classes"
    if not result.gradients_reach_weights:
        return "some weights did not change"
    if result.placement_verified is False:
        where = ", ".join(result.misplaced_ops[:3]) or "not every device took part"
        return f"the work did not run where it was placed: {where}"
    if result.replicas_equal is False:
        return "the replicas' weights differ"
    if result.output_dtype not in (None, "float32"):
        return f"the softmax was computed in {result.output_dtype}"
    return None


def judge(result: TrainingRun) -> None:
    """Record status, reason and stage in a result."""
    result.reason = problem(result)
    result.status, result.stage = ("failed", "verify") if result.reason else ("passed", None)


def finite_or_none(value: float) -> float | None:
    """Round for a report; None for a value that JSON can't represent."""
    return round(value, 6) if math.isfinite(value) else None


def first_sentence(error: BaseException) -> str:
    """Return an exception's type and message on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])[:600]}"
