"""One compiled training step, fed in turn from the input pipeline and from one batch that stays on the devices.

The difference between the two is the cost of the pipeline. The step is Keras' ``train_step`` under ``strategy.run``, as
``Model.fit`` compiles it. Steps run asynchronously: the clock is read when the last one of a run is done.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any

from gpucheck.core.child.messages.benchmark import Repeat
from gpucheck.core.training.smoke import network


class Trainer:
    """A network's training step, compiled once for each source of data."""

    def __init__(self, tf: Any, strategy: Any, model: Any, xla: bool, steps_per_execution: int = 1) -> None:
        """Prepare without tracing anything yet.

        Args:
            tf: TensorFlow.
            strategy: the one in whose scope the model was built.
            model: compiled, with the variables of its optimizer and metrics (see ``trainer``).
            xla: whether XLA compiles the step.
            steps_per_execution: steps that run without returning to Python; every number of steps must be a multiple of it.
        """
        self.model = model
        self.finite = True  # whether the loss was finite after all timed steps so far
        self._tf, self._strategy, self._at_once = tf, strategy, steps_per_execution
        self.variables = [*model.variables, *model.optimizer.variables]

        def on_replica(data: Any) -> Any:
            logs = model.train_step(data)  # a user's own step may name its losses otherwise
            return tf.cast(logs["loss"] if "loss" in logs else next(iter(logs.values())), tf.float32)

        inner = tf.function(on_replica, jit_compile=True) if xla else on_replica

        def losses(batch: Any) -> Any:
            return strategy.experimental_local_results(strategy.run(inner, args=(batch,)))

        def repeated(step: Callable[[], Any]) -> Any:
            if steps_per_execution == 1:
                return step()
            first = (tf.constant(0), (tf.constant(0.0),) * strategy.num_replicas_in_sync)
            return tf.while_loop(lambda done, _: done < steps_per_execution, lambda done, _: (done + 1, step()), first)[1]

        def from_iterator(iterator: Any) -> Any:
            return repeated(lambda: losses(next(iterator)))

        def from_batch(batch: Any) -> Any:
            return repeated(lambda: losses(batch))

        def test(batch: Any) -> None:
            strategy.run(model.test_step, args=(batch,))

        self._test = tf.function(test)
        self._from_iterator, self._from_batch = tf.function(from_iterator), tf.function(from_batch)

    def keep(self, batch: Any) -> Any:
        """Copy the batch into the devices' memory."""

        def copied(data: Any) -> Any:
            return self._tf.nest.map_structure(self._tf.identity, data)

        return runner(self._tf, self._strategy)(copied, args=(batch,))

    def source(self, data: Any) -> Any:
        """Return an iterator over the batches of a ``tf.data.Dataset``, each split among the replicas."""
        return iter(self._strategy.experimental_distribute_dataset(data))

    def reset(self, values: list[Any]) -> None:
        """Restore every weight and the optimizer's state, so that each run does the same work."""
        with self._strategy.scope():
            for variable, value in zip(self.variables, values):
                variable.assign(value)

    def piped(self, source: Any, steps: int, around: Callable[[int], Any] | None = None) -> float:
        """Return the seconds of some steps on the input pipeline.

        Args:
            source: see ``source``.
            steps: number of steps.
            around: returns a context manager for an execution, given the number of its first step; None: none.
        """
        return self._timed(self._from_iterator, source, steps, around)

    def resident(self, batch: Any, steps: int) -> float:
        """Return the seconds of some steps on one resident batch (see ``keep``)."""
        return self._timed(self._from_batch, batch, steps)

    def epochs(self, source: Any, steps: int, epochs: int, target: float | None, held_out: Any = None) -> Repeat:
        """Train epochs until the target accuracy, if there is one, is reached, or all of them.

        Args:
            source: see ``source``.
            steps: steps per epoch.
            epochs: maximum number of epochs.
            target: the target accuracy; None: train all epochs.
            held_out: a ``tf.data.Dataset`` on which the accuracy is measured, outside the timed seconds; None: the training data.
        """
        seconds: list[float] = []
        accuracies: list[float] = []
        for _ in range(epochs):
            self.model.reset_metrics()
            seconds.append(self.piped(source, steps))
            if held_out is not None:
                self._evaluate(held_out)
            with contextlib.suppress(KeyError):
                accuracies.append(float(self.model.get_metrics_result()["accuracy"]))
            if target is not None and accuracies and accuracies[-1] >= target:
                break
        reached = bool(target is not None and accuracies and accuracies[-1] >= target)
        return Repeat(seconds, accuracies, sum(seconds) if reached else None)

    def _evaluate(self, data: Any) -> None:
        """Replace the training steps' metrics with metrics on this data."""
        self.model.reset_metrics()
        for batch in self.source(data):
            self._test(batch)

    def _timed(self, step: Any, data: Any, steps: int, around: Callable[[int], Any] | None = None) -> float:
        within = around or (lambda _: contextlib.nullcontext())
        began = time.perf_counter()
        for number in range(0, steps, self._at_once):
            with within(number):
                losses = step(data)
        ended = [float(value) for value in losses]  # waits for the devices
        seconds = time.perf_counter() - began
        self.finite = self.finite and all(map(math.isfinite, ended))
        return seconds


def trainer(tf: Any, keras: Any, strategy: Any, **options: Any) -> Trainer:
    """Return the smoke job's network in a strategy, ready for timing, in the current precision and from the current seed.

    Args:
        tf: TensorFlow.
        keras: the module to build with.
        strategy: in whose scope the network is built.
        options: the network's options, see ``network.model``.
    """
    with strategy.scope():
        model = network.model(keras, compiled=False, **options)
    return ready(tf, strategy, model, tuple(map(tf.constant, network.arrays(1))))


def ready(
    tf: Any, strategy: Any, model: Any, sample: Any, xla: bool = False, steps_per_execution: int = 1, first: Any = None
) -> Trainer:
    """Return a compiled model of a strategy's scope, ready for timing.

    Args:
        tf: TensorFlow.
        strategy: in whose scope the model was built.
        model: compiled.
        sample: a batch of one sample.
        xla: whether XLA compiles the step.
        steps_per_execution: see ``Trainer``.
        first: the method that creates what is still missing; None: ``test_step``.
    """
    with strategy.scope():
        if model.trainable_variables:
            model.optimizer.build(model.trainable_variables)
        # Lets Keras create the metrics' variables: with several replicas, a step that creates them can't be compiled.
        runner(tf, strategy)(first or model.test_step, args=(sample,))
        model.optimizer.build(model.trainable_variables)
    model.reset_metrics()
    return Trainer(tf, strategy, model, xla, steps_per_execution)


def runner(tf: Any, strategy: Any) -> Callable[..., Any]:
    """Return ``strategy.run``, compiled for a TPU, which runs nothing eagerly."""
    run: Callable[..., Any] = tf.function(strategy.run) if isinstance(strategy, tf.distribute.TPUStrategy) else strategy.run
    return run


def input_wait_share(step_seconds: float, resident_step_seconds: float, batch_seconds: float | None = None) -> float:
    """Return the share of a step's time on the input pipeline that is spent waiting for input.

    Args:
        step_seconds: time of a step on the pipeline.
        resident_step_seconds: time of the same step on a resident batch.
        batch_seconds: the pipeline's time per batch, if it was measured: no step waits longer. Other load on the machine causes
            any larger difference.
    """
    waited = max(0.0, step_seconds - resident_step_seconds)
    if batch_seconds is not None:
        waited = min(waited, batch_seconds)
    return waited / step_seconds if step_seconds > 0 else 0.0


def scaling_efficiency(all_devices: float, one_device: float, devices: int) -> float:
    """Return the samples per second of several devices, divided by their number and by the samples per second of one."""
    return all_devices / (devices * one_device)
