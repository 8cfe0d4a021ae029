"""Jobs on TensorFlow: built by a strategy of ``tf.distribute``, fed by ``tf.data``, with their placement recorded."""

from __future__ import annotations

import contextlib
import functools
from contextlib import AbstractContextManager
from typing import Any

from gpucheck.core.child.messages.training import Job, TrainingRun
from gpucheck.core.training import strategies
from gpucheck.core.training.smoke import memory, network, proof


class TensorFlowJob:
    """One job on TensorFlow (see ``fit.FrameworkJob``)."""

    def __init__(self, tf: Any, keras: Any, job: Job, names: dict[str, str], cross_device: str | None = None) -> None:
        """Prepare the job without building anything yet.

        Args:
            tf: TensorFlow.
            keras: the module to train with.
            job: the planned job.
            names: logical name by device name.
            cross_device: how a mirrored strategy exchanges gradients; None: TensorFlow chooses.
        """
        self._tf, self._keras, self._job, self._cross_device = tf, keras, job, cross_device
        self._logical = tuple(names.get(device, device) for device in job.devices)
        self._strategy: Any = None
        self._placed: set[proof.Placed] | None = None

    def fresh(self) -> None:
        """Forget earlier models."""
        fresh(self._keras, self._job.precision)

    def cpu_first_loss(self) -> float | None:
        """Return the loss of the first step, computed on the CPU."""
        return cpu_first_loss(self._tf, self._keras, self._job.precision, network.batch_size(self._job.devices[0]))

    def open(self) -> tuple[int, int]:
        """Build the strategy."""
        name = self._job.strategy
        self._strategy = strategies.build(name, self._tf, self._logical, self._cross_device)
        memory.reset(self._tf, self._logical)
        return self._strategy.num_replicas_in_sync, strategies.load(name).steps_per_execution

    def scope(self) -> AbstractContextManager[Any]:
        """Return the strategy's scope."""
        scope: AbstractContextManager[Any] = self._strategy.scope()
        return scope

    def around_fit(self) -> AbstractContextManager[Any]:
        """Set the device of an XLA-compiled step, which Keras otherwise runs on the first device, ignoring the strategy.

        Without this TensorFlow raises "Trying to access resource ... located in device GPU:1 from device GPU:0".
        """
        if self._job.compiled and self._job.strategy == "one_device":
            device: AbstractContextManager[Any] = self._tf.device("/" + self._logical[0])
            return device
        return contextlib.nullcontext()

    def data(self, global_batch: int) -> dict[str, Any]:
        """Return an endless dataset."""
        return {"x": network.dataset(self._tf, global_batch), "steps_per_epoch": network.STEPS, "epochs": 1}

    def before_first_step(self) -> None:
        """Start recording the placement."""
        proof.record_placement()

    def after_first_step(self) -> None:
        """Read the placement of the first step."""
        self._placed = proof.recorded_placement()

    def note(self, result: TrainingRun, model: Any) -> None:
        """Record placement and numerics in the result."""
        proof.note_numerics(result, model, proof.tf32(self._tf), self._logical)
        proof.note_placement(result, self._placed, self._logical)
        result.peak_memory_bytes = memory.peak(self._tf, self._logical)


def fresh(keras: Any, precision: str) -> None:
    """Forget earlier models; the next one is built in that precision, from the same seed."""
    keras.backend.clear_session()
    keras.mixed_precision.set_global_policy(precision)
    keras.utils.set_random_seed(network.SEED)


def train_briefly(tf: Any, keras: Any, logical: str, batch: int, steps: int) -> tuple[Any, float]:
    """Train some steps in float32 on one device, as a user does, without verification; return the model and its mean loss."""
    fresh(keras, "float32")
    strategy = strategies.build("one_device", tf, (logical,))
    with strategy.scope():
        model = network.model(keras, compiled=False)
    history = model.fit(network.dataset(tf, batch), steps_per_epoch=steps, epochs=1, verbose=0, shuffle=False).history
    return model, float(history["loss"][-1])


@functools.lru_cache(maxsize=16)  # the CPU's loss is the same for every device
def cpu_first_loss(tf: Any, keras: Any, precision: str, batch: int) -> float | None:
    """Return the loss of a job's first step, computed on the CPU: same seed, data, weights, dropout and precision."""
    fresh(keras, precision)
    with tf.device("/CPU:0"):
        model = network.model(keras, compiled=False)
        images, labels = next(iter(network.dataset(tf, batch)))
        predictions = model(images, training=True)
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, predictions))
    return proof.finite_or_none(float(loss))
