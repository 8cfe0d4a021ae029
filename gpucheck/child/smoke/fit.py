"""One job with ``Model.fit``: the way a user trains, step by step on the clock."""

from __future__ import annotations

import gc
import importlib
import time
from typing import Any

from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import memory, network, placement, proof


def train(
    stages: Stages, tf: Any, keras: Any, item: dict[str, Any], names: dict[str, str], cross_device: str | None = None
) -> dict[str, Any]:
    """One planned run (see ``plan.py``), reported under its stage, and returned.

    Args:
        stages: the report to the parent.
        tf: TensorFlow.
        keras: the module to train with.
        item: the run, as planned.
        names: logical name by the name of a device.
        cross_device: how a mirrored strategy shall exchange gradients; None: as TensorFlow chooses.
    """
    stage = item["stage"]
    result = begun(item)
    stages.begin(stage)
    stages.begin(stage + ": build")
    logical = tuple(names.get(device, device) for device in item["devices"])
    recorder = None
    try:
        fresh(keras, item["precision"])
        if item["strategy"] == "one_device" and not logical[0].startswith("CPU"):
            result["cpu_first_loss"] = cpu_first_loss(tf, keras, item["precision"], network.batch_size(item["devices"][0]))
            fresh(keras, item["precision"])
        build = importlib.import_module("gpucheck.strategies." + item["strategy"]).build
        strategy = build(tf, logical) if cross_device is None else build(tf, logical, cross_device)
        per_replica = network.batch_size(item["devices"][0])
        replicas = strategy.num_replicas_in_sync
        result.update(replicas=replicas, **sizes(per_replica, replicas))
        memory.reset(tf, logical)
        with strategy.scope():
            model = network.model(keras, item["compiled"])
        before = [weight.numpy() for weight in model.trainable_weights]
        recorder = _recorder(keras, stages, stage)
        result["stage"] = "first step"
        data = network.dataset(tf, per_replica * replicas)
        model.fit(data, steps_per_epoch=network.STEPS, epochs=1, verbose=0, callbacks=[recorder])
        result["stage"] = "verify"
        stages.begin(stage + ": verify")
        result.update(proof.measured(recorder.seconds, recorder.means.losses, per_replica * replicas, recorder.means.accuracies))
        result.update(proof.weights(model, before))
        result.update(proof.numerics(tf, model))
        result.update(placement.verified(recorder.placed, logical))
        result["peak_memory_bytes"] = memory.peak(tf, logical)
        result.update(proof.judged(result))
    except Exception as error:
        if recorder is not None and recorder.seconds:
            result["stage"] = "steps"
        result["reason"] = proof.first_sentence(error)
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    stages.end(stage, result)
    return result


def begun(item: dict[str, Any]) -> dict[str, Any]:
    """The account of a run that has come no further than its plan."""
    planned = {key: item[key] for key in ("strategy", "devices", "precision", "compiled")}
    return {**planned, "replicas": len(item["devices"]), "loop": "fit", "status": "failed", "stage": "build"}


def sizes(per_replica: int, replicas: int) -> dict[str, Any]:
    """Batch sizes and steps of a run."""
    return {
        "per_replica_batch_size": per_replica,
        "global_batch_size": per_replica * replicas,
        "drop_remainder": True,
        "steps": network.STEPS,
    }


def fresh(keras: Any, precision: str) -> None:
    """Forget earlier models; the next one is built in that precision, from the same seed."""
    keras.backend.clear_session()
    keras.mixed_precision.set_global_policy(precision)
    keras.utils.set_random_seed(network.SEED)


_first_losses: dict[tuple[str, int], float | None] = {}  # the CPU's answer is the same for every device


def cpu_first_loss(tf: Any, keras: Any, precision: str, batch: int) -> float | None:
    """The loss of the run's very first step, computed on the CPU: same seed, data, weights, dropout and precision."""
    if (precision, batch) not in _first_losses:
        fresh(keras, precision)
        with tf.device("/CPU:0"):
            model = network.model(keras, compiled=False)
            images, labels = next(iter(network.dataset(tf, batch)))
            predictions = model(images, training=True)
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, predictions))
        _first_losses[precision, batch] = proof.finite_or_none(float(loss))
    return _first_losses[precision, batch]


def _recorder(keras: Any, stages: Stages, stage: str) -> Any:
    """A callback that times each step, recovers its loss, and records where the first step's ops were placed."""

    class Recorder(keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seconds: list[float] = []
            self.means = proof.Means()
            self.placed: set[tuple[str, str]] | None = None
            self._began = 0.0

        def on_train_begin(self, logs: Any = None) -> None:
            stages.begin(stage + ": first step")
            placement.record()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self._began = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.seconds.append(time.perf_counter() - self._began)
            self.means.add(logs)
            if len(self.seconds) == 1:
                self.placed = placement.recorded()
                stages.begin(stage + ": steps")

    return Recorder()
