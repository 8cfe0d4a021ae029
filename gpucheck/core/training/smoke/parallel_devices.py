"""Train independent devices at the same time: the training step is traced once, and each device runs it on its own weights.

Tracing a Keras step takes about a second of Python on any machine, and Python runs one thread at a time: if eight devices traced
separately, it would take eight times as long. The traced step is Keras' own ``train_step``; it captures a model's variables,
and each device passes its own copies instead, in the same order. The model is built only once, too.

All devices train on the same batch in every step: its loss falls far within a few steps, with any seed.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from gpucheck.core.child.messages.training import Job, Trained, TrainingRun
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training.smoke import memory, network, proof
from gpucheck.core.training.smoke.fit import note_sizes, untrained_result
from gpucheck.core.training.smoke.tensorflow import cpu_first_loss

STEPS = 4  # enough to verify training; speed is measured when a device trains alone
PLACEMENT_SECONDS = 60.0  # how long the others wait for a device that hangs


class CannotShareStep(Exception):
    """The traced step can't run on other variables; the devices have to train one after the other."""


def train(reporter: Reporter, tf: Any, keras: Any, jobs: list[Job], names: dict[str, str]) -> list[TrainingRun]:
    """Train jobs of strategy one_device that differ only in the device; report each.

    Raises:
        CannotShareStep: this TensorFlow or Keras does not allow it; nothing has been reported yet.
    """
    first = jobs[0]
    batch = network.batch_size(first.devices[0])
    logical = [names.get(job.devices[0], job.devices[0]) for job in jobs]
    on_gpu = not logical[0].startswith("CPU")
    loss = cpu_first_loss(tf, keras, first.precision, batch) if on_gpu else None
    try:
        keras.mixed_precision.set_global_policy(first.precision)
        model = _model(tf, keras, first)
        step, captured = _trace(tf, model, batch, first.compiled)
        variables = [DeviceVariables(tf, model, captured, device) for device in logical]
    except Exception as error:
        raise CannotShareStep(proof.first_sentence(error)) from error
    finally:
        keras.mixed_precision.set_global_policy("float32")
    samples = next(iter(network.dataset(tf, batch)))
    trainings = []
    for job, own in zip(jobs, variables):
        result = untrained_result(job, "train_step")
        result.cpu_first_loss, result.trained_with = loss, len(jobs) - 1
        proof.note_numerics(result, model, proof.tf32(tf), logical)
        trainings.append(_Training(tf, reporter, job, result, own, step, samples))
    memory.reset(tf, logical)
    proof.record_placement()
    threads = [threading.Thread(target=training.run, args=(batch,), daemon=True) for training in trainings]
    for job in jobs:
        reporter.begin(Trained, job.id)
    with contextlib.nullcontext() if on_gpu else _unoptimized(tf):
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + PLACEMENT_SECONDS
        for training in trainings:
            training.stepped.wait(max(0.0, deadline - time.monotonic()))
        placed = proof.recorded_placement()
        for training, device in zip(trainings, logical):
            training.placed = ops_of_device(placed, device, logical)
            training.placement_known.set()
        for thread in threads:
            thread.join()
    return [training.result for training in trainings]


class DeviceVariables:
    """A copy of every variable that the step uses, on one device."""

    def __init__(self, tf: Any, model: Any, captured: list[Any], device: str) -> None:
        """Copy the model's variables to a device; ``captured`` are those of the traced step, in its order."""
        self.device = device
        with tf.device("/" + device):
            own = {id(variable): tf.Variable(variable.value(), trainable=False, dtype=variable.dtype) for variable in captured}
        self.handles = [own[id(variable)].handle for variable in captured]
        self.weights = [own[id(_below(weight))] for weight in model.trainable_weights]
        scale = proof.loss_scale(model.optimizer)
        self.loss_scale = None if scale is None else own.get(id(_below(scale)))


class _Training:
    """One device's training."""

    def __init__(
        self, tf: Any, reporter: Reporter, job: Job, result: TrainingRun, variables: DeviceVariables, step: Any, samples: Any
    ) -> None:
        self.tf, self.reporter, self.job, self.result = tf, reporter, job, result
        self.variables, self.step, self.samples = variables, step, samples
        self.placed: set[proof.Placed] | None = None
        self.stepped, self.placement_known = threading.Event(), threading.Event()

    def run(self, batch: int) -> None:
        """Train, and report."""
        try:
            self._train(batch)
        except Exception as error:
            self.result.reason = proof.first_sentence(error)
        finally:
            self.stepped.set()
        self.reporter.end(Trained(self.result), self.job.id)

    def _train(self, batch: int) -> None:
        result, device = self.result, self.variables.device
        seconds: list[float] = []
        means = proof.StepMeans()
        before = [weight.numpy() for weight in self.variables.weights]
        note_sizes(result, batch, STEPS)
        result.stage = "first step"
        for _ in range(STEPS):
            began = time.perf_counter()
            with self.tf.device("/" + device):
                logs = self.step._call_flat(list(self.samples), self.variables.handles)
            means.add({name: float(value) for name, value in logs.items()})
            seconds.append(time.perf_counter() - began)
            result.stage = "steps"
            self.stepped.set()
        result.stage = "verify"
        self.placement_known.wait(PLACEMENT_SECONDS)
        proof.note_steps(result, seconds, means)
        proof.note_weights(result, self.variables.weights, before)
        scale = self.variables.loss_scale
        result.loss_scale = None if scale is None else float(scale.numpy())
        proof.note_placement(result, self.placed, [device])
        result.peak_memory_bytes = memory.peak(self.tf, [device])
        proof.judge(result)


def ops_of_device(placed: set[proof.Placed] | None, device: str, others: Iterable[str]) -> set[proof.Placed] | None:
    """Return the ops of one of several concurrent jobs: those on its device, and misplaced ones that are missing there.

    All jobs run the same ops, so an op that ran on a foreign device belongs to the jobs whose own device did not run it.
    """
    if not placed:
        return None
    own = {(op, where) for op, where in placed if where == device}
    lacking = {op for op, _ in placed} - {op for op, _ in own}
    devices = {device, *others}
    return own | {(op, where) for op, where in placed if where not in devices and op in lacking}


@contextlib.contextmanager
def _unoptimized(tf: Any) -> Iterator[None]:
    """Disable graph optimization, which TensorFlow repeats for each device and which takes half of a device's preparation time.

    Only for logical devices of a CPU, the first of which trained with it; a GPU's kernels may depend on it.
    """
    options = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": options.get("disable_meta_optimizer", False)})


def _model(tf: Any, keras: Any, job: Job) -> Any:
    """Return the network with all its variables, including the optimizer's and the metrics'; devices only copy from it."""
    keras.utils.set_random_seed(network.SEED)
    with tf.device("/CPU:0"):
        model = network.model(keras, job.compiled)
        model.optimizer.build(model.trainable_variables)
        model.test_step(next(iter(network.dataset(tf, 1))))  # lets Keras create the metrics' variables
        model.reset_metrics()
    return model


def _trace(tf: Any, model: Any, batch: int, compiled: bool) -> tuple[Any, list[Any]]:
    """Trace the model's training step without a device; return the concrete function, and the captured variables in order."""

    def step(images: Any, labels: Any) -> Any:
        return model.train_step((images, labels))

    function = tf.function(step, jit_compile=True if compiled else None, autograph=False)
    concrete = function.get_concrete_function(tf.TensorSpec((batch, 32, 32, 3), tf.float32), tf.TensorSpec((batch,), tf.int32))
    variables = {id(variable.handle): variable for variable in concrete.variables}
    captured = [variables.get(id(handle)) for handle in concrete.captured_inputs]
    if any(variable is None for variable in captured):
        raise CannotShareStep("the step has captured something that is not a variable")
    return concrete, captured


def _below(variable: Any) -> Any:
    """Return the TensorFlow variable of a Keras variable; Keras 2 may wrap it in one that casts."""
    return getattr(variable, "_value", getattr(variable, "_variable", variable))
