"""Training scheduled by a coordinator on workers, which update the parameter server's variables asynchronously."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpucheck.core.child.messages.training import TrainingRun
from gpucheck.core.child.smoke import loop, network, proof

ROUNDS = 2  # times the other strategies' number of steps: asynchronous steps learn more slowly


def train(tf: Any, keras: Any, strategy: Any, result: TrainingRun, begin: Callable[[str], None]) -> Any:
    """Train the network; one worker runs each step, on its own batch.

    Args:
        tf: TensorFlow.
        keras: the module to train with.
        strategy: a ``ParameterServerStrategy`` whose cluster is connected.
        result: of the job, filled in here; ``replicas`` is the number of workers, and figures are for all of them together.
        begin: called with the name of each step as it begins: "build", "first step", "steps", "verify".

    Returns:
        The trained model.
    """
    begin("build")
    workers, batch = result.replicas, network.batch_size("CPU:0")
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    model, before = loop.untrained(keras, strategy)
    batches = iter(coordinator.create_per_worker_dataset(lambda: network.dataset(tf, batch)))
    step = _step(tf, keras, strategy, model)
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
    proof.note_steps(result, [first, each], proof.Means([loss for loss, _ in results], [right / batch for _, right in results]))
    proof.note_weights(result, model.trainable_weights, before)
    proof.note_numerics(result, model, None, [])
    _note_placement(result, model)
    return model


def _step(tf: Any, keras: Any, strategy: Any, model: Any) -> Any:
    """One worker's training step, traced: returns a batch's mean loss and number of correctly classified samples."""

    def on_worker(images: Any, labels: Any) -> tuple[Any, Any]:
        loss, right, gradients = loop.learn(tf, keras, model, images, labels, network.batch_size("CPU:0"))
        loop.apply(model.optimizer, gradients, model.trainable_variables)
        return loss, right

    return tf.function(lambda batches: strategy.run(on_worker, args=next(batches)))


def _note_placement(result: TrainingRun, model: Any) -> None:
    """Record whether every variable is on a parameter server."""
    places = {str(getattr(weight, "_value", weight).device) for weight in model.trainable_weights}
    misplaced = sorted(place for place in places if not place.startswith("/job:ps/"))
    result.placement_verified, result.misplaced_ops = not misplaced, tuple(f"variable on {place}" for place in misplaced)
