"""Independent devices trained at the same time: the training step is traced once, and each device runs it on weights of its own.

Tracing a Keras step takes about a second of Python on any machine, and Python runs one thread at a time: eight devices that trace
for themselves take eight times as long as one. The traced step is Keras' own ``train_step``; what it has captured are a model's
variables, and each device gives copies of its own instead, in the same order. Nor is the model built anew for each of them.

All of them train on one batch, over and over: within a few steps its loss falls far, whatever the seed.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import fit, memory, network, placement, proof

STEPS = 4  # enough to prove it; how fast a device is shows where it trains alone
PLACEMENT_SECONDS = 60.0  # after which a device that hangs no longer keeps the others from their answer


class Unshareable(Exception):
    """The traced step can't be given other variables; the devices have to be trained one after the other."""


def train(stages: Stages, tf: Any, keras: Any, items: list[dict[str, Any]], names: dict[str, str]) -> list[dict[str, Any]]:
    """Planned runs of strategy one_device that differ in nothing but the device, each reported under its stage.

    Raises:
        Unshareable: this TensorFlow or Keras does not allow it; nothing has been reported yet.
    """
    first = items[0]
    batch = network.batch_size(first["devices"][0])
    logical = [names.get(item["devices"][0], item["devices"][0]) for item in items]
    on_gpu = not logical[0].startswith("CPU")
    cpu_first_loss = fit.cpu_first_loss(tf, keras, first["precision"], batch) if on_gpu else None
    try:
        keras.mixed_precision.set_global_policy(first["precision"])
        model = _model(tf, keras, first)
        step, captured = _traced(tf, model, batch, first["compiled"])
        shares = [_Share(tf, model, captured, device) for device in logical]
    except Exception as error:
        raise Unshareable(proof.first_sentence(error)) from error
    finally:
        keras.mixed_precision.set_global_policy("float32")
    numerics = proof.numerics(model, proof.tf32(tf), logical)
    samples = next(iter(network.dataset(tf, batch)))
    jobs = [_Job(tf, stages, item, share, step, samples, numerics) for item, share in zip(items, shares)]
    memory.reset(tf, logical)
    placement.record()
    threads = [threading.Thread(target=job.run, args=(batch,), daemon=True) for job in jobs]
    for job in jobs:
        stages.begin(job.item["stage"])
    with contextlib.nullcontext() if on_gpu else _unoptimized(tf):
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + PLACEMENT_SECONDS
        for job in jobs:
            job.stepped.wait(max(0.0, deadline - time.monotonic()))
        placed = placement.recorded()
        for job, device in zip(jobs, logical):
            job.placed = placement.told_apart(placed, device, logical)
            job.result.update(cpu_first_loss=cpu_first_loss, trained_with=len(jobs) - 1)
            job.told.set()
        for thread in threads:
            thread.join()  # the parent limits the time
    return [job.result for job in jobs]


class _Share:
    """What one device has of its own: a copy of every variable that the step uses."""

    def __init__(self, tf: Any, model: Any, captured: list[Any], device: str) -> None:
        """Copy the model's variables to a device; ``captured`` are those of the traced step, in its order."""
        self.device = device
        with tf.device("/" + device):
            own = {id(variable): tf.Variable(variable.value(), trainable=False, dtype=variable.dtype) for variable in captured}
        self.handles = [own[id(variable)].handle for variable in captured]
        self.weights = [own[id(_below(weight))] for weight in model.trainable_weights]
        scale = proof.loss_scale(model.optimizer)
        self.loss_scale = None if scale is None else own.get(id(_below(scale)))


class _Job:
    """One device's training."""

    def __init__(
        self,
        tf: Any,
        stages: Stages,
        item: dict[str, Any],
        share: _Share,
        step: Any,
        samples: Any,
        numerics: dict[str, Any],
    ) -> None:
        self.tf, self.stages, self.item, self.share, self.step, self.samples = tf, stages, item, share, step, samples
        self.result = {**fit.begun(item), "loop": "train_step"}
        self.numerics = numerics
        self.placed: set[tuple[str, str]] | None = None
        self.stepped, self.told = threading.Event(), threading.Event()

    def run(self, batch: int) -> None:
        """Train, and report."""
        try:
            self._train(batch)
        except Exception as error:
            self.result["reason"] = proof.first_sentence(error)
        finally:
            self.stepped.set()
        self.stages.end(self.item["stage"], self.result)

    def _train(self, batch: int) -> None:
        seconds: list[float] = []
        means = proof.Means()
        device = self.share.device
        before = [weight.numpy() for weight in self.share.weights]
        self.result.update(fit.sizes(batch, 1), steps=STEPS, stage="first step")
        for _ in range(STEPS):
            began = time.perf_counter()
            with self.tf.device("/" + device):
                logs = self.step._call_flat(list(self.samples), self.share.handles)
            means.add({name: float(value) for name, value in logs.items()})
            seconds.append(time.perf_counter() - began)
            self.result["stage"] = "steps"
            self.stepped.set()
        self.result["stage"] = "verify"
        self.told.wait(PLACEMENT_SECONDS)
        self.result.update(proof.measured(seconds, means.losses, batch, means.accuracies))
        self.result.update(proof.weights(self.share.weights, before))
        scale = self.share.loss_scale
        self.result.update(self.numerics, loss_scale=None if scale is None else float(scale.numpy()))
        self.result.update(placement.verified(self.placed, [device]))
        self.result["peak_memory_bytes"] = memory.peak(self.tf, [device])
        self.result.update(proof.judged(self.result))


@contextlib.contextmanager
def _unoptimized(tf: Any) -> Iterator[None]:
    """Without rewriting graphs for speed, which TensorFlow does anew for each device, in half of the time that it prepares one.

    For logical devices of a CPU, whose first one has trained with it; a GPU's kernels may depend on it.
    """
    options = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": options.get("disable_meta_optimizer", False)})


def _model(tf: Any, keras: Any, item: dict[str, Any]) -> Any:
    """The network with all its variables, the optimizer's and the metrics' included; it is only copied from."""
    keras.utils.set_random_seed(network.SEED)
    with tf.device("/CPU:0"):
        model = network.model(keras, item["compiled"])
        model.optimizer.build(model.trainable_variables)
        model.test_step(next(iter(network.dataset(tf, 1))))  # lets Keras make the metrics' variables
        model.reset_metrics()
    return model


def _traced(tf: Any, model: Any, batch: int, compiled: bool) -> tuple[Any, list[Any]]:
    """The model's training step, traced without a device, and the variables that it has captured, in its order."""

    def step(images: Any, labels: Any) -> Any:
        return model.train_step((images, labels))

    function = tf.function(step, jit_compile=True if compiled else None, autograph=False)
    concrete = function.get_concrete_function(tf.TensorSpec((batch, 32, 32, 3), tf.float32), tf.TensorSpec((batch,), tf.int32))
    known = {id(variable.handle): variable for variable in concrete.variables}
    captured = [known.get(id(handle)) for handle in concrete.captured_inputs]
    if any(variable is None for variable in captured):
        raise Unshareable("the step has captured something that is no variable")
    return concrete, captured


def _below(variable: Any) -> Any:
    """TensorFlow's variable below Keras' one; Keras 2 has one between them that casts."""
    return getattr(variable, "_value", getattr(variable, "_variable", variable))
