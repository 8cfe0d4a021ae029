"""Helpers for experiments: train the smoke network from a fixed seed, record its loss per step, and time a step."""

from __future__ import annotations

import contextlib
import gc
import statistics
from collections.abc import Callable, Iterator
from typing import Any

from gpucheck.core.training import strategies
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.training.smoke import network, proof, throughput
from gpucheck.core.training.smoke.tensorflow import fresh

MEASUREMENT_SECONDS = 0.2
LEAST_STEPS, MOST_STEPS = 2, 40
REPEATS = 3
SLOW_SECONDS = 0.05  # per step; slower steps vary less, so they are measured once


class Comparison:
    """The smoke job's network, trained step by step without dropout, which differs between replicas and precisions."""

    def __init__(self, setting: Setting, devices: list[str], synchronized: bool = False, precision: str = "float32") -> None:
        """Build the network; all comparisons start from the same weights.

        Args:
            setting: the experiment's setting.
            devices: names; several are replicas of a mirrored strategy.
            synchronized: whether batch normalization computes its statistics over all replicas.
            precision: a Keras dtype policy.
        """
        tf, keras = setting.tf, setting.keras
        fresh(keras, precision)
        strategy = build_strategy(setting, devices)
        try:
            self.trainer = throughput.trainer(tf, keras, strategy, synchronized=synchronized, dropout=0.0)
        finally:
            keras.mixed_precision.set_global_policy("float32")
        self.model = self.trainer.model
        self._tf = tf

    def feed(self, images: Any, labels: Any, global_batch: int) -> Any:
        """Return an endless iterator over global batches, in order, each divided among the replicas.

        The samples must be whole batches. The batch size is not traced, so that one trace serves several sizes.
        """
        data = self._tf.data.Dataset.from_tensor_slices((images, labels))
        return self.trainer.source(network.untuned(self._tf, data.batch(global_batch).repeat()))

    def losses(self, source: Any, steps: int) -> list[float]:
        """Train on the next batches; return the mean loss over each global batch before the step's update."""
        values = []
        for _ in range(steps):
            self.model.reset_metrics()
            self.trainer.piped(source, 1)
            values.append(float(next(metric for metric in self.model.metrics if metric.name == "loss").result()))
        return values


def build_strategy(setting: Setting, devices: list[str]) -> Any:
    """Build a strategy for one device, or a mirrored one for several."""
    logical = tuple(setting.names[device] for device in devices)
    return strategies.build("mirrored" if len(devices) > 1 else "one_device", setting.tf, logical)


def replicas(setting: Setting) -> list[str]:
    """Return the devices of a mirrored job: all accelerators, or two logical CPU devices (more share the same cores).

    Raises:
        NotHere: there is only one.
    """
    devices = setting.devices()
    if len(devices) < 2:
        raise NotHere(f"replicas need two devices, and there is only {devices[0]}")
    return devices[:2] if devices[0].startswith("CPU") else devices


@contextlib.contextmanager
def tf32(tf: Any, allowed: bool) -> Iterator[None]:
    """Allow or forbid TF32 in float32 products; the previous setting is restored.

    Without TF32, results differ only by float32 rounding, with any algorithm that a batch size selects.
    """
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(allowed)
    try:
        yield
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(before)


def relative_difference(value: float, reference: float) -> float:
    """Return the difference of a loss from a reference, relative to the reference."""
    return abs(value - reference) / max(abs(reference), 1e-6)


def percent(difference: float, limit: float) -> str:
    """Return '1.01 %': a difference with enough digits to show that it exceeds its limit; both are fractions."""
    shown = 0.0
    for digits in range(1, 9):
        shown = round(100 * difference, digits)
        if shown > 100 * limit:
            break
    return f"{shown:.10g} %"


def finite(figures: dict[str, Any]) -> dict[str, float | None]:
    """Convert figures for a report: None for values that are not finite."""
    return {name: None if value is None else proof.finite_or_none(float(value)) for name, value in figures.items()}


def forget(keras: Any) -> None:
    """Release the memory of an experiment."""
    keras.backend.clear_session()
    gc.collect()


def measurements(seconds: float) -> tuple[int, int]:
    """Return the number of measurements and of steps in each, given a step's approximate seconds."""
    steps = max(LEAST_STEPS, min(MOST_STEPS, round(MEASUREMENT_SECONDS / max(seconds, 1e-6))))
    return (1 if seconds > SLOW_SECONDS else REPEATS), steps


def step_seconds(timed: Callable[[int], float], warmup: int = 2) -> float:
    """Return the seconds of one step: the median of several measurements.

    Args:
        timed: runs a number of steps, and returns the seconds of all of them.
        warmup: steps to run first; they trace the step, and use up the batches that a pipeline prefetched.
    """
    timed(warmup)
    repeats, steps = measurements(timed(1))
    return statistics.median(timed(steps) / steps for _ in range(repeats))
