"""A custom training loop: ``strategy.run`` around a gradient step, for strategies that ``Model.fit`` does not support."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from gpucheck.core.child.messages.training import TrainingRun
from gpucheck.core.child.smoke import network, proof
from gpucheck.core.child.smoke.fit import note_sizes


class Shard(NamedTuple):
    """A worker's final state, to compare with the others'."""

    digest: str  # of its weights
    samples: list[int]  # checksums of the images that it got in one pass over the data


def train(tf: Any, keras: Any, strategy: Any, result: TrainingRun, begin: Callable[[str], None]) -> tuple[Any, Shard]:
    """Train the network for ``network.STEPS`` steps, every worker on its own share of each batch.

    Args:
        tf: TensorFlow.
        keras: the module to train with.
        strategy: built, with the cluster connected.
        result: of the job, filled in here.
        begin: called with the name of each step as it begins: "build", "data of step 1", "step 1", ... , "verify".

    Returns:
        The trained model, and this worker's state to compare.
    """
    begin("build")
    devices = strategy.extended.worker_devices
    result.replicas = strategy.num_replicas_in_sync
    note_sizes(result, network.batch_size(str(devices[0]).rpartition("device:")[2]), network.STEPS)
    global_batch = result.global_batch_size or 0
    model, before = untrained(keras, strategy)
    batches = iter(strategy.experimental_distribute_dataset(_sharded(tf, network.dataset(tf, global_batch))))
    step = _step(tf, keras, strategy, model, global_batch)
    seconds: list[float] = []
    means = proof.Means()
    samples: list[int] = []
    for number in range(1, network.STEPS + 1):
        begin(f"data of step {number}")
        began = time.perf_counter()
        images, labels = next(batches)
        begin(f"step {number}")
        loss, right = step(images, labels)
        means.losses.append(float(loss))
        means.accuracies.append(float(right) / global_batch)
        seconds.append(time.perf_counter() - began)
        if number <= network.BATCHES:
            for part in strategy.experimental_local_results(images):
                samples += [zlib.crc32(image.tobytes()) for image in part.numpy()]
    begin("verify")
    proof.note_steps(result, seconds, means)
    proof.note_weights(result, model.trainable_weights, before)
    proof.note_numerics(result, model, proof.tf32(tf), devices)
    weights = b"".join(weight.numpy().tobytes() for weight in model.trainable_weights)
    return model, Shard(hashlib.sha256(weights).hexdigest()[:16], samples)


def untrained(keras: Any, strategy: Any) -> tuple[Any, list[Any]]:
    """Return the network in a strategy's scope, with the variables of its optimizer, and the values of its weights."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(network.SEED)
    with strategy.scope():
        model = network.model(keras, compiled=False)
        model.optimizer.build(model.trainable_variables)
    return model, [weight.numpy() for weight in model.trainable_weights]


def _sharded(tf: Any, data: Any) -> Any:
    """The data with the policy that gives every worker its own part of each global batch (there are no files to divide)."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return data.with_options(options)


def _step(tf: Any, keras: Any, strategy: Any, model: Any, global_batch: int) -> Any:
    """One training step, traced: returns a global batch's mean loss and number of correctly classified samples."""

    def on_replica(images: Any, labels: Any) -> tuple[Any, Any]:
        loss, right, gradients = learn(tf, keras, model, images, labels, global_batch)
        apply(model.optimizer, gradients, model.trainable_variables)
        return loss, right

    def step(images: Any, labels: Any) -> list[Any]:
        per_replica = strategy.run(on_replica, args=(images, labels))
        return [strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None) for value in per_replica]

    return tf.function(step)


def learn(tf: Any, keras: Any, model: Any, images: Any, labels: Any, whole: int) -> tuple[Any, Any, list[Any]]:
    """Return some samples' part of the mean loss over ``whole`` samples, the number classified correctly, and the gradients."""
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        losses = keras.losses.sparse_categorical_crossentropy(labels, predictions)
        loss = tf.reduce_sum(losses) / whole
    classes = tf.argmax(predictions, axis=-1, output_type=labels.dtype)
    right = tf.reduce_sum(tf.cast(tf.equal(classes, labels), tf.float32))
    return loss, right, tape.gradient(loss, model.trainable_variables)


def apply(optimizer: Any, gradients: list[Any], variables: list[Any]) -> None:
    """Let Keras, 2 or 3, sum the replicas' gradients and update the weights."""
    if hasattr(optimizer, "apply"):
        optimizer.apply(gradients, variables)
    else:
        optimizer.apply_gradients(zip(gradients, variables))
