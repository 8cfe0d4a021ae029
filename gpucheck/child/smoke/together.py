"""Independent devices trained at the same time: the training step is traced once, and each device runs it on weights of its own.

Tracing a Keras step takes about a second of Python on any machine, and Python runs one thread at a time: eight devices that trace
for themselves take eight times as long as one. The traced step is Keras' own ``train_step``; what it has captured are the first
model's variables, and each device gives its own model's instead, in the same order.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import fit, memory, network, placement, proof

STEPS = 8  # enough to prove it; how fast a device is shows where it trains alone
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
        fit.fresh(keras, first["precision"])
        models = [_model(tf, keras, first, device) for device in logical]
        step, captures = _traced(tf, models, batch, first["compiled"])
    except Exception as error:
        raise Unshareable(proof.first_sentence(error)) from error
    finally:
        keras.mixed_precision.set_global_policy("float32")
    jobs = [
        _Job(tf, stages, item, device, model, captured, step)
        for item, device, model, captured in zip(items, logical, models, captures)
    ]
    memory.reset(tf, logical)
    placement.record()
    threads = [threading.Thread(target=job.run, args=(batch,), daemon=True) for job in jobs]
    for job in jobs:
        stages.begin(job.item["stage"])
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


class _Job:
    """One device's share."""

    def __init__(self, tf: Any, stages: Stages, item: dict[str, Any], device: str, model: Any, captured: Any, step: Any) -> None:
        self.tf, self.stages, self.item, self.device, self.model = tf, stages, item, device, model
        self.captured, self.step = captured, step
        self.result = {**fit.begun(item), "loop": "train_step"}
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
        before = [weight.numpy() for weight in self.model.trainable_weights]
        self.result.update(fit.sizes(batch, 1), steps=STEPS, stage="first step")
        batches = iter(network.dataset(self.tf, batch))  # the input pipeline belongs to the CPU
        for _ in range(STEPS):
            began = time.perf_counter()
            images, labels = next(batches)
            with self.tf.device("/" + self.device):
                logs = self.step._call_flat([images, labels], self.captured)
            means.add({name: float(value) for name, value in logs.items()})
            seconds.append(time.perf_counter() - began)
            self.result["stage"] = "steps"
            self.stepped.set()
        self.result["stage"] = "verify"
        self.told.wait(PLACEMENT_SECONDS)
        self.result.update(proof.measured(seconds, means.losses, batch, means.accuracies))
        self.result.update(proof.weights(self.model, before))
        self.result.update(proof.numerics(self.model, proof.tf32(self.tf)))
        self.result.update(placement.verified(self.placed, [self.device]))
        self.result["peak_memory_bytes"] = memory.peak(self.tf, [self.device])
        self.result.update(proof.judged(self.result))


def _model(tf: Any, keras: Any, item: dict[str, Any], device: str) -> Any:
    """The network with all its variables, the optimizer's and the metrics' included, on one device."""
    keras.utils.set_random_seed(network.SEED)
    with tf.device("/" + device):
        model = network.model(keras, item["compiled"])
        model.optimizer.build(model.trainable_variables)
        model.test_step(next(iter(network.dataset(tf, 1))))  # lets Keras make the metrics' variables
        model.reset_metrics()
    return model


def _traced(tf: Any, models: list[Any], batch: int, compiled: bool) -> tuple[Any, list[list[Any]]]:
    """The first model's training step, traced without a device, and what each model gives it for the first's variables."""

    def step(images: Any, labels: Any) -> Any:
        return models[0].train_step((images, labels))

    function = tf.function(step, jit_compile=True) if compiled else tf.function(step)
    concrete = function.get_concrete_function(tf.TensorSpec((batch, 32, 32, 3), tf.float32), tf.TensorSpec((batch,), tf.int32))
    variables = [_variables(model) for model in models]
    place = {id(variable.handle): number for number, variable in enumerate(variables[0])}
    order = [place.get(id(captured)) for captured in concrete.captured_inputs]
    if None in order or len({len(own) for own in variables}) > 1:
        raise Unshareable("the step has captured something that is no variable of the model")
    return concrete, [[own[number].handle for number in order if number is not None] for own in variables]


def _variables(model: Any) -> list[Any]:
    """TensorFlow's variables below Keras', each once, in the order that every such model has."""
    found: dict[int, Any] = {}
    measures = [variable for metric in model.metrics for variable in metric.variables]
    for variable in [*model.variables, *model.optimizer.variables, *measures]:
        below = getattr(variable, "_value", variable)
        found.setdefault(id(below), below)
    return list(found.values())
