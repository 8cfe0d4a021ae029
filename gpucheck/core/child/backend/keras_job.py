"""Jobs with Keras on JAX or PyTorch: with the same network and checks as on TensorFlow, and plain arrays as data."""

from __future__ import annotations

import random
from contextlib import AbstractContextManager
from typing import Any

from gpucheck.core.child.messages.training import Job, TrainingRun
from gpucheck.core.child.smoke import network, placement, proof

_first_losses: dict[tuple[str, int], float | None] = {}  # the CPU's loss is the same for every device


class KerasJob:
    """One job with Keras on JAX or PyTorch (see ``fit.FrameworkJob``)."""

    def __init__(self, framework: Any, keras: Any, job: Job) -> None:
        """Prepare; nothing is built yet.

        Args:
            framework: the module ``jax`` or ``torch`` of this package.
            keras: Keras 3, on that backend.
            job: as planned.
        """
        self._framework, self._keras, self._job = framework, keras, job
        self._names = list(job.devices)
        self._distribution: Any = None

    def fresh(self) -> None:
        """Forget earlier models.

        Keras draws every layer's seed from Python's generator. Its own ``set_random_seed`` would import an installed TensorFlow.
        """
        self._keras.utils.clear_session()
        self._keras.mixed_precision.set_global_policy(self._job.precision)
        random.seed(network.SEED)
        self._framework.seed(network.SEED)

    def cpu_first_loss(self) -> float | None:
        """The loss of the first step, computed on the CPU."""
        if not self._framework.comparable():
            return None
        keras, batch = self._keras, network.batch_size(self._names[0])
        key = (self._job.precision, batch)
        if key not in _first_losses:
            with self._framework.scope(["CPU:0"]):
                model = network.model(keras, compiled=False)
                images, labels = network.steps(batch)
                predictions = model(images[:batch], training=True)
                loss = keras.ops.mean(keras.losses.sparse_categorical_crossentropy(labels[:batch], predictions))
            _first_losses[key] = proof.finite_or_none(float(loss))
        return _first_losses[key]

    def open(self) -> tuple[int, int]:
        """Return the number of devices; Keras uses them in the scope."""
        self._framework.reset_peak(self._names)
        return len(self._names), 1

    def scope(self) -> AbstractContextManager[Any]:
        """The context in which Keras builds and trains the model on the devices."""
        scope: AbstractContextManager[Any]
        if self._job.strategy == "data_parallel":
            self._distribution = self._distribution or self._framework.data_parallel(self._keras, self._names)
            scope = self._distribution.scope()
        else:
            scope = self._framework.scope(self._names)
        return scope

    def around_fit(self) -> AbstractContextManager[Any]:
        """The scope of the model."""
        return self.scope()

    def data(self, global_batch: int) -> dict[str, Any]:
        """Arrays of all steps' samples."""
        images, labels = network.steps(global_batch)
        return {"x": images, "y": labels, "batch_size": global_batch}

    def before_first_step(self) -> None:
        """Do nothing: the placement is read afterwards."""

    def after_first_step(self) -> None:
        """Do nothing."""

    def note(self, result: TrainingRun, model: Any) -> None:
        """Record placement and numerics in the result: the device that computes weights also holds them."""
        framework = self._framework
        proof.note_numerics(result, model, framework.tf32(), self._names)
        variables = [*model.trainable_variables, *model.optimizer.variables]
        placement.note(
            result, {(variable.name, place) for variable in variables for place in framework.places(variable)}, self._names
        )
        result.peak_memory_bytes = framework.peak(self._names)
        result.replicas_equal = framework.replicas_equal(model.trainable_weights)
