"""What a few steps of training prove: figures from their times and losses, and why they may be no proof."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

from gpucheck.core.child.messages.training import Loss, TrainingRun
from gpucheck.core.child.smoke.network import CLASSES


def note_steps(result: TrainingRun, seconds: list[float], means: Means) -> None:
    """Put times, losses and accuracy into a result, from those of its steps.

    The first step includes tracing, compiling and autotuning and is reported apart.
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


class Means:
    """Keras reports the running mean of an epoch; this gives back the value of each step."""

    def __init__(self, losses: Iterable[float] = (), accuracies: Iterable[float] = ()) -> None:
        """Begin, or take the values of steps that are known already."""
        self.losses: list[float] = list(losses)
        self.accuracies: list[float] = list(accuracies)
        self._sums = {"loss": 0.0, "accuracy": 0.0}

    def add(self, logs: dict[str, Any] | None) -> None:
        """Take what Keras said after a step."""
        for name, values in (("loss", self.losses), ("accuracy", self.accuracies)):
            total = float((logs or {}).get(name, math.nan)) * (len(values) + 1)
            values.append(total - self._sums[name])
            self._sums[name] = total


def note_weights(result: TrainingRun, trainable: list[Any], before: list[Any]) -> None:
    """Put into a result whether every variable changed, is finite on all replicas, and has the same bits on all of them."""
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
    """Whether TensorFlow may use TF32 (NVIDIA, compute capability 8.0 and later): float32 products of factors cut to 10 bits."""
    try:
        return bool(tf.config.experimental.tensor_float_32_execution_enabled())
    except AttributeError:
        return None


def note_numerics(result: TrainingRun, network: Any, tf32: bool | None, devices: Iterable[str]) -> None:
    """Put into a result how the network computed: the type of its answers, the loss scale float16 ended with, TF32 or not.

    Args:
        result: of the job.
        network: compiled.
        tf32: whether the framework lets GPUs use it.
        devices: names of those that it ran on, short ("GPU:0") or whole; without a GPU among them TF32 means nothing.
    """
    scale = loss_scale(network.optimizer)
    result.output_dtype = str(network.layers[-1].compute_dtype)
    result.loss_scale = None if scale is None else finite_or_none(float(scale))
    result.tf32 = tf32 if any("GPU:" in device for device in devices) else None


def loss_scale(optimizer: Any) -> Any:
    """What a loss-scaling optimizer multiplies the loss by, so that float16 can hold the gradients; None: it scales nothing."""
    return getattr(optimizer, "dynamic_scale", getattr(optimizer, "loss_scale", None))


def problem(result: TrainingRun) -> str | None:
    """Why a job that came to its end is no proof; None if it is one."""
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
    """Put status, reason and the step that was reached into a result."""
    result.reason = problem(result)
    result.status, result.stage = ("failed", "verify") if result.reason else ("passed", None)


def finite_or_none(value: float) -> float | None:
    """Rounded for a report; None for what JSON can't hold."""
    return round(value, 6) if math.isfinite(value) else None


def first_sentence(error: BaseException) -> str:
    """What an exception says, with its type, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])[:600]}"
