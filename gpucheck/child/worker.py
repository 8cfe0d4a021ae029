"""One worker of the multi-worker job: a process with its own TF_CONFIG that trains with a ``strategy.run`` loop.

Keras 3's ``fit`` does not train under MultiWorkerMirroredStrategy, so the loop is written out, as TensorFlow's guide does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from typing import Any

from gpucheck.child import inspection
from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import network, proof
from gpucheck.strategies import multi_worker_mirrored


def run(stages: Stages, args: list[str]) -> None:
    """Train as one worker.

    Args:
        stages: the report to the parent: import, connect, train.
        args: one JSON object: ``tf_config`` and ``gpu`` (position among the visible GPUs, or None for the CPU).
    """
    settings = json.loads(args[0])
    os.environ["TF_CONFIG"] = json.dumps(settings["tf_config"])
    tf = inspection.import_tensorflow(stages)
    if tf is None:
        return
    gpus = tf.config.list_physical_devices("GPU")
    chosen = [] if settings["gpu"] is None else gpus[settings["gpu"] : settings["gpu"] + 1]
    tf.config.set_visible_devices(chosen, "GPU")
    for gpu in chosen:
        tf.config.experimental.set_memory_growth(gpu, True)
    stages.begin("connect")
    strategy = multi_worker_mirrored.build(tf, ())
    stages.end("connect", {"replicas": strategy.num_replicas_in_sync})
    stages.begin("train")
    try:
        stages.end("train", _train(tf, strategy))
    except Exception as error:
        stages.end("train", {"problem": f"{type(error).__name__}: {error}"[:600]})


def _train(tf: Any, strategy: Any) -> dict[str, Any]:
    import keras

    per_replica = network.PER_REPLICA_BATCH["CPU"]
    global_batch = per_replica * strategy.num_replicas_in_sync
    keras.utils.set_random_seed(network.SEED)
    with strategy.scope():
        model = network.model(keras, compiled=False)
        model.optimizer.build(model.trainable_variables)
    before = [weight.numpy() for weight in model.trainable_weights]
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    batches = iter(strategy.experimental_distribute_dataset(network.dataset(tf, global_batch).with_options(options)))

    def replica_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = keras.losses.sparse_categorical_crossentropy(labels, model(images, training=True))
            loss = tf.reduce_sum(losses) / global_batch
        gradients = tape.gradient(loss, model.trainable_variables)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        model.optimizer.apply(gradients, model.trainable_variables)
        return loss

    def step(iterator: Any) -> Any:
        per_replica_losses = strategy.run(replica_step, args=next(iterator))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)

    compiled_step = tf.function(step)
    seconds: list[float] = []
    losses: list[float] = []
    for _ in range(network.STEPS):
        began = time.perf_counter()
        losses.append(float(compiled_step(batches)))
        seconds.append(time.perf_counter() - began)
    return {
        "problem": None,
        "replicas": strategy.num_replicas_in_sync,
        "global_batch_size": global_batch,
        "per_replica_batch_size": per_replica,
        "steps": network.STEPS,
        "weights": hashlib.sha256(b"".join(weight.numpy().tobytes() for weight in model.trainable_weights)).hexdigest(),
        **proof.measured(seconds, losses, global_batch, []),
        "versions": versions(tf, keras),
        **proof.weights(model, before),
    }


def versions(tf: Any, keras: Any) -> dict[str, str]:
    """What must be the same on every worker."""
    build = inspection.build(tf)
    found = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "tensorflow": str(tf.__version__),
        "keras": str(keras.__version__),
        "cuda": build["cuda_version"],
        "cudnn": build["cudnn_version"],
    }
    return {name: str(version) for name, version in found.items() if version}
