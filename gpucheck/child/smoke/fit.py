"""One job with ``Model.fit``: the way a user trains, step by step on the clock."""

from __future__ import annotations

import contextlib
import gc
import importlib
from typing import Any

from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import memory, network, placement, proof, recorder


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
    steps = None
    try:
        fresh(keras, item["precision"])
        if item["strategy"] == "one_device" and not logical[0].startswith("CPU"):
            result["cpu_first_loss"] = cpu_first_loss(tf, keras, item["precision"], network.batch_size(item["devices"][0]))
            fresh(keras, item["precision"])
        module = importlib.import_module("gpucheck.strategies." + item["strategy"])
        strategy = module.build(tf, logical) if cross_device is None else module.build(tf, logical, cross_device)
        together = getattr(module, "STEPS_PER_EXECUTION", 1)
        per_replica = network.batch_size(item["devices"][0])
        replicas = strategy.num_replicas_in_sync
        result.update(replicas=replicas, **sizes(per_replica, replicas), steps_per_execution=together)
        memory.reset(tf, logical)
        with strategy.scope():
            model = network.model(keras, item["compiled"], steps_per_execution=together)
        before = [weight.numpy() for weight in model.trainable_weights]
        steps = recorder.recorder(keras, stages, stage, placement.record, placement.recorded, together)
        result["stage"] = "first step"
        data = network.dataset(tf, per_replica * replicas)
        with _around(tf, item, logical):
            # Keras warns where a dataset is to be shuffled, which it would not do: PYTHONWARNINGS=error makes that an error.
            model.fit(data, steps_per_epoch=network.STEPS, epochs=1, verbose=0, shuffle=False, callbacks=[steps])
        result["stage"] = "verify"
        stages.begin(stage + ": verify")
        result.update(proof.measured(steps.seconds, steps.means.losses, per_replica * replicas, steps.means.accuracies))
        result.update(proof.weights(model.trainable_weights, before))
        result.update(proof.numerics(model, proof.tf32(tf), logical))
        result.update(placement.verified(steps.told, logical))
        result["peak_memory_bytes"] = memory.peak(tf, logical)
        result.update(proof.judged(result))
    except Exception as error:
        if steps is not None and steps.seconds:
            result["stage"] = "steps"
        result["reason"] = proof.first_sentence(error)
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    stages.end(stage, result)
    return result


def _around(tf: Any, item: dict[str, Any], logical: tuple[str, ...]) -> Any:
    """What ``fit`` needs around it: Keras leaves an XLA-compiled step to the first device, whatever the strategy says.

    Without it TensorFlow refuses: "Trying to access resource ... located in device GPU:1 from device GPU:0".
    """
    if item["compiled"] and item["strategy"] == "one_device":
        return tf.device("/" + logical[0])
    return contextlib.nullcontext()


def shortly(tf: Any, keras: Any, logical: str, batch: int, steps: int) -> tuple[Any, float]:
    """Some steps in float32 on one device, the way a user trains, and nothing verified: the model and its mean loss."""
    fresh(keras, "float32")
    strategy = importlib.import_module("gpucheck.strategies.one_device").build(tf, (logical,))
    with strategy.scope():
        model = network.model(keras, compiled=False)
    history = model.fit(network.dataset(tf, batch), steps_per_epoch=steps, epochs=1, verbose=0, shuffle=False).history
    return model, float(history["loss"][-1])


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
