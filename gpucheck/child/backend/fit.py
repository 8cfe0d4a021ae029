"""One job with ``Model.fit`` on JAX or PyTorch: the network and the proof are TensorFlow's, the data are plain arrays."""

from __future__ import annotations

import gc
import random
from typing import Any

from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import network, proof, recorder
from gpucheck.child.smoke.fit import begun, sizes


def train(stages: Stages, framework: Any, keras: Any, item: dict[str, Any]) -> None:
    """One planned run (see ``child/plan.py``), reported under its stage.

    Args:
        stages: the report to the parent.
        framework: the file of JAX or of PyTorch.
        keras: Keras 3, on that backend.
        item: the run, as planned.
    """
    stage, names = item["stage"], item["devices"]
    result = {**begun(item), "backend": item["backend"]}
    stages.begin(stage)
    stages.begin(stage + ": build")
    steps = None
    try:
        per_replica = network.batch_size(names[0])
        result.update(sizes(per_replica, len(names)))
        if item["strategy"] == "one_device" and framework.comparable() and not names[0].startswith("CPU"):
            result["cpu_first_loss"] = _cpu_first_loss(framework, keras, item["precision"], per_replica)
        _fresh(framework, keras, item["precision"])
        framework.reset_peak(names)
        together = item["strategy"] == "data_parallel"
        with framework.data_parallel(keras, names) if together else framework.scope(names):
            model = network.model(keras, item["compiled"])
            before = [weight.numpy() for weight in model.trainable_weights]
            steps = recorder.recorder(keras, stages, stage)
            result["stage"] = "first step"
            images, labels = network.steps(result["global_batch_size"])
            model.fit(images, labels, batch_size=result["global_batch_size"], shuffle=False, verbose=0, callbacks=[steps])
        result["stage"] = "verify"
        stages.begin(stage + ": verify")
        result.update(
            proof.measured(steps.seconds, steps.means.losses, result["global_batch_size"], steps.means.accuracies),
            **proof.weights(model.trainable_weights, before),
            **proof.numerics(model, framework.tf32(), names),
            **_placed(framework, model, names),
            peak_memory_bytes=framework.peak(names),
        )
        result["replicas_equal"] = framework.replicas_equal(model.trainable_weights)
        result.update(proof.judged(result))
    except Exception as error:
        if steps is not None and steps.seconds:
            result["stage"] = "steps"
        result["reason"] = proof.first_sentence(error)
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    stages.end(stage, result)


def _fresh(framework: Any, keras: Any, precision: str) -> None:
    """Forget earlier models; the next one is built in that precision, from the same seed.

    Keras draws every layer's seed from Python's generator. Its own ``set_random_seed`` would import TensorFlow where it is
    installed.
    """
    keras.utils.clear_session()
    keras.mixed_precision.set_global_policy(precision)
    random.seed(network.SEED)
    framework.seed(network.SEED)


def _placed(framework: Any, model: Any, names: list[str]) -> dict[str, Any]:
    """Where the last step's results lie: new weights come from the device that computed them."""
    reached: set[str] = set()
    astray: set[str] = set()
    for variable in [*model.trainable_variables, *model.optimizer.variables]:
        found = framework.places(variable)
        reached |= found
        astray.update(f"{variable.name} on {place}" for place in found - set(names))
    return {"placement_verified": not astray and reached == set(names), "misplaced_ops": sorted(astray)[:20]}


_first_losses: dict[tuple[str, int], float | None] = {}  # the CPU's answer is the same for every device


def _cpu_first_loss(framework: Any, keras: Any, precision: str, batch: int) -> float | None:
    """The loss of the run's very first step, computed on the CPU: same seed, data, weights, dropout and precision."""
    if (precision, batch) not in _first_losses:
        _fresh(framework, keras, precision)
        with framework.scope(["CPU:0"]):
            model = network.model(keras, compiled=False)
            images, labels = network.steps(batch)
            predictions = model(images[:batch], training=True)
            loss = keras.ops.mean(keras.losses.sparse_categorical_crossentropy(labels[:batch], predictions))
        _first_losses[precision, batch] = proof.finite_or_none(float(loss))
    return _first_losses[precision, batch]
