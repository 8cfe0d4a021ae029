"""Custom training loops around a gradient step, for strategies that ``Model.fit`` does not support.

``train`` runs it on every worker at the same time; with ``train_scheduled``, a coordinator schedules it on workers, which update
the parameter server's variables asynchronously.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from gpucheck.core.child.messages.training import TrainingRun
from gpucheck.core.training.smoke import network, proof
from gpucheck.core.training.smoke.fit import note_sizes

ROUNDS = 2  # multiple of the other strategies' number of steps: asynchronous steps learn more slowly


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
        result: the job's result, filled in here.
        begin: called with the name of each step as it begins: "build", "data of step 1", "step 1", ... , "verify".

    Returns:
        The trained model, and this worker's state to compare.
    """
    begin("build")
    devices = strategy.extended.worker_devices
    result.replicas = strategy.num_replicas_in_sync
    note_sizes(result, network.batch_size(str(devices[0]).rpartition("device:")[2]), network.STEPS)
    global_batch = result.global_batch_size or 0
    model, before = _untrained(keras, strategy)
    batches = iter(strategy.experimental_distribute_dataset(_sharded(tf, network.dataset(tf, global_batch))))
    step = _step(tf, keras, strategy, model, global_batch)
    seconds: list[float] = []
    means = proof.StepMeans()
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


def train_scheduled(tf: Any, keras: Any, strategy: Any, result: TrainingRun, begin: Callable[[str], None]) -> Any:
    """Train the network; one worker runs each step, on its own batch.

    Args:
        tf: TensorFlow.
        keras: the module to train with.
        strategy: a ``ParameterServerStrategy`` whose cluster is connected.
        result: the job's result, filled in here; ``replicas`` is the number of workers, and figures are for all of them together.
        begin: called with the name of each step as it begins: "build", "first step", "steps", "verify".

    Returns:
        The trained model.
    """
    begin("build")
    workers, batch = result.replicas, network.batch_size("CPU:0")
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    model, before = _untrained(keras, strategy)
    batches = iter(coordinator.create_per_worker_dataset(lambda: network.dataset(tf, batch)))
    step = _scheduled_step(tf, keras, strategy, model)
    count = ROUNDS * network.STEPS - workers
    begin("first step")
    began = time.perf_counter()
    scheduled = [coordinator.schedule(step, args=(batches,)) for _ in range(workers)]
    coordinator.join()
    first = time.perf_counter() - began
    begin("steps")
    began = time.perf_counter()
    scheduled += [coordinator.schedule(step, args=(batches,)) for _ in range(count)]
    coordinator.join()
    each = (time.perf_counter() - began) / count
    begin("verify")
    results = [tuple(float(value) for value in step_result.fetch()) for step_result in scheduled]
    result.per_replica_batch_size = result.global_batch_size = batch  # one worker runs a step
    result.drop_remainder, result.steps = True, len(scheduled)
    proof.note_steps(
        result, [first, each], proof.StepMeans([loss for loss, _ in results], [right / batch for _, right in results])
    )
    proof.note_weights(result, model.trainable_weights, before)
    proof.note_numerics(result, model, None, [])
    _note_placement(result, model)
    return model


def _untrained(keras: Any, strategy: Any) -> tuple[Any, list[Any]]:
    """Return the network in a strategy's scope, with the variables of its optimizer, and the values of its weights."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(network.SEED)
    with strategy.scope():
        model = network.model(keras, compiled=False)
        model.optimizer.build(model.trainable_variables)
    return model, [weight.numpy() for weight in model.trainable_weights]


def _sharded(tf: Any, data: Any) -> Any:
    """Set the policy that gives every worker its own part of each global batch (there are no files to divide)."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return data.with_options(options)


def _step(tf: Any, keras: Any, strategy: Any, model: Any, global_batch: int) -> Any:
    """Return a traced training step, which returns a global batch's mean loss and number of correctly classified samples."""

    def on_replica(images: Any, labels: Any) -> tuple[Any, Any]:
        loss, right, gradients = _learn(tf, keras, model, images, labels, global_batch)
        _apply(model.optimizer, gradients, model.trainable_variables)
        return loss, right

    def step(images: Any, labels: Any) -> list[Any]:
        per_replica = strategy.run(on_replica, args=(images, labels))
        return [strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None) for value in per_replica]

    return tf.function(step)


def _scheduled_step(tf: Any, keras: Any, strategy: Any, model: Any) -> Any:
    """Return one worker's traced training step, which returns a batch's mean loss and number of correctly classified samples."""

    def on_worker(images: Any, labels: Any) -> tuple[Any, Any]:
        loss, right, gradients = _learn(tf, keras, model, images, labels, network.batch_size("CPU:0"))
        _apply(model.optimizer, gradients, model.trainable_variables)
        return loss, right

    return tf.function(lambda batches: strategy.run(on_worker, args=next(batches)))


def _note_placement(result: TrainingRun, model: Any) -> None:
    """Record whether every variable is on a parameter server."""
    places = {str(getattr(weight, "_value", weight).device) for weight in model.trainable_weights}
    misplaced = sorted(place for place in places if not place.startswith("/job:ps/"))
    result.placement_verified, result.misplaced_ops = not misplaced, tuple(f"variable on {place}" for place in misplaced)


def _learn(tf: Any, keras: Any, model: Any, images: Any, labels: Any, whole: int) -> tuple[Any, Any, list[Any]]:
    """Return some samples' part of the mean loss over ``whole`` samples, the number classified correctly, and the gradients."""
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        losses = keras.losses.sparse_categorical_crossentropy(labels, predictions)
        loss = tf.reduce_sum(losses) / whole
    classes = tf.argmax(predictions, axis=-1, output_type=labels.dtype)
    right = tf.reduce_sum(tf.cast(tf.equal(classes, labels), tf.float32))
    return loss, right, tape.gradient(loss, model.trainable_variables)


def _apply(optimizer: Any, gradients: list[Any], variables: list[Any]) -> None:
    """Let Keras, 2 or 3, sum the replicas' gradients and update the weights."""
    if hasattr(optimizer, "apply"):
        optimizer.apply(gradients, variables)
    else:
        optimizer.apply_gradients(zip(gradients, variables))
