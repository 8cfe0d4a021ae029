"""The smoke job: a small convolutional network on generated, learnable, CIFAR-shaped data, trained with ``Model.fit``.

Everything that is reported was measured here. The steps of one run see four batches in turn; the first step includes
tracing, compiling and autotuning and is reported apart.
"""

from __future__ import annotations

import gc
import math
import re
import statistics
import time
from typing import Any

from gpucheck.child.runtime import Stages

CLASSES = 10
STEPS = 12
BATCHES = 4
PER_REPLICA_BATCH = {"CPU": 16, "GPU": 64, "TPU": 64}
SEED = 20_2111
HEAVY = re.compile(r"Conv2D|MatMul")  # the ops that must not land elsewhere, fused and vendor variants included


def dataset(tf: Any, global_batch: int) -> Any:
    """Batches without end: each class is a coarse colour pattern under noise, so the loss must fall within a few steps."""
    import numpy as np

    random = np.random.default_rng(SEED)
    patterns = random.normal(size=(CLASSES, 4, 4, 3)).repeat(8, axis=1).repeat(8, axis=2)
    labels: Any = np.arange(BATCHES * global_batch) % CLASSES
    random.shuffle(labels)
    images = patterns[labels] + 0.5 * random.normal(size=(len(labels), 32, 32, 3))
    data = tf.data.Dataset.from_tensor_slices((images.astype("float32"), labels.astype("int32")))
    return data.batch(global_batch, drop_remainder=True).repeat().prefetch(tf.data.AUTOTUNE)


def model(keras: Any, compiled: bool) -> Any:
    """The network, compiled for training; its last activation is float32 under every precision."""
    layers = keras.layers
    network = keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Conv2D(128, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Conv2D(256, 3, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dropout(0.3),
            layers.Dense(CLASSES),
            layers.Activation("softmax", dtype="float32"),
        ]
    )
    network.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=compiled,
    )
    return network


def train(stages: Stages, tf: Any, keras: Any, item: dict[str, Any], names: dict[str, str]) -> None:
    """One planned run (see ``framework.planned``), reported under its stage. ``names`` maps devices to logical names."""
    import importlib

    stage = item["stage"]
    result = {key: item[key] for key in ("strategy", "devices", "precision", "compiled")}
    result.update(replicas=len(item["devices"]), status="failed", stage="build")
    stages.begin(stage)
    stages.begin(stage + ": build")
    logical = tuple(names.get(device, device) for device in item["devices"])
    recorder = None
    try:
        keras.backend.clear_session()
        keras.mixed_precision.set_global_policy(item["precision"])
        keras.utils.set_random_seed(SEED)
        if item["strategy"] == "one_device" and not logical[0].startswith("CPU"):
            result["cpu_first_loss"] = cpu_first_loss(tf, keras, item["precision"])
            keras.utils.set_random_seed(SEED)
        strategy = importlib.import_module("gpucheck.strategies." + item["strategy"]).build(tf, logical)
        per_replica = PER_REPLICA_BATCH.get(item["devices"][0].split(":")[0], 16)
        replicas = strategy.num_replicas_in_sync
        result.update(
            replicas=replicas,
            per_replica_batch_size=per_replica,
            global_batch_size=per_replica * replicas,
            steps=STEPS,
        )
        _reset_memory(tf, logical)
        with strategy.scope():
            network = model(keras, item["compiled"])
        before = [weight.numpy() for weight in network.trainable_weights]
        recorder = _recorder(keras, tf, stages, stage)
        result["stage"] = "first step"
        data = dataset(tf, per_replica * replicas)
        network.fit(data, steps_per_epoch=STEPS, epochs=1, verbose=0, callbacks=[recorder])
        result["stage"] = "verify"
        stages.begin(stage + ": verify")
        result.update(measured(recorder.seconds, recorder.losses, per_replica * replicas, recorder.accuracies))
        result.update(weights(network, before))
        result.update(_placement(recorder.placed, logical))
        result["peak_memory_bytes"] = _peak_memory(tf, logical)
        problem = _judge(result)
        result.update(status="failed" if problem else "passed", reason=problem, stage="verify" if problem else None)
    except Exception as error:
        if recorder is not None and recorder.seconds:
            result["stage"] = "steps"
        result["reason"] = f"{type(error).__name__}: {_first_sentence(error)}"
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    stages.end(stage, result)


def cpu_first_loss(tf: Any, keras: Any, precision: str) -> float | None:
    """The loss of the run's very first step, computed on the CPU: same seed, data, weights, dropout and precision."""
    keras.backend.clear_session()
    keras.mixed_precision.set_global_policy(precision)
    keras.utils.set_random_seed(SEED)
    with tf.device("/CPU:0"):
        network = model(keras, compiled=False)
        images, labels = next(iter(dataset(tf, PER_REPLICA_BATCH["GPU"])))
        predictions = network(images, training=True)
        loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, predictions))
    return _finite(float(loss))


def xla_step(stages: Stages, tf: Any, device: str, names: dict[str, str]) -> None:
    """One tiny XLA-compiled gradient on a device: XLA needs tools (ptxas, libdevice) that plain kernels don't."""
    stages.begin("xla " + device)

    def gradient(inputs: Any, weights: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(tf.tanh(inputs @ weights) ** 2)
        return tape.gradient(loss, weights)

    try:
        with tf.device("/" + names.get(device, device)):
            value = tf.function(gradient, jit_compile=True)(tf.ones((8, 16)), tf.fill((16, 4), 0.01))
        finite = bool(tf.reduce_all(tf.math.is_finite(value)))
        result = {"verified": finite, "problem": None if finite else "its result is not finite"}
    except Exception as error:
        result = {"verified": False, "problem": f"{type(error).__name__}: {_first_sentence(error)}"}
    stages.end("xla " + device, result)


def _recorder(keras: Any, tf: Any, stages: Stages, stage: str) -> Any:
    """A callback that times each step, recovers its loss, and records where the first step's ops were placed."""

    class Recorder(keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seconds: list[float] = []
            self.losses: list[float] = []
            self.accuracies: list[float] = []
            self.placed: set[tuple[str, str]] | None = None
            self._sums = {"loss": 0.0, "accuracy": 0.0}
            self._began = 0.0

        def on_train_begin(self, logs: Any = None) -> None:
            stages.begin(stage + ": first step")
            _collect_graphs(True)

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self._began = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.seconds.append(time.perf_counter() - self._began)
            for name, values in (("loss", self.losses), ("accuracy", self.accuracies)):
                mean = float((logs or {}).get(name, math.nan))  # Keras reports the running mean of the epoch
                total = mean * len(self.seconds)
                values.append(total - self._sums[name])
                self._sums[name] = total
            if len(self.seconds) == 1:
                self.placed = _collect_graphs(False)
                stages.begin(stage + ": steps")

    return Recorder()


def _collect_graphs(start: bool) -> set[tuple[str, str]] | None:
    """Record the executed graphs as ``tf.summary.trace_on`` does; on stop, (op, device) of every heavy node that ran."""
    try:
        from tensorflow.python.eager import context

        if start:
            context.enable_graph_collection()
            return None
        metadata = context.export_run_metadata()
        context.disable_graph_collection()
    except Exception:  # not a public interface: without it, placement is unknown, not wrong
        return None
    nodes = (node for graph in metadata.partition_graphs for node in graph.node)
    return {(node.op, ":".join(node.device.split(":")[-2:])) for node in nodes if HEAVY.search(node.op)}


def _placement(placed: set[tuple[str, str]] | None, devices: tuple[str, ...]) -> dict[str, Any]:
    if not placed:
        return {"placement_verified": None}
    astray = sorted(f"{op.lstrip('_')} on {device}" for op, device in placed if device not in devices)
    reached = {device for _, device in placed}
    return {"placement_verified": not astray and reached == set(devices), "misplaced_ops": astray[:20]}


def measured(seconds: list[float], losses: list[float], global_batch: int, accuracies: list[float]) -> dict[str, Any]:
    """Times, losses and accuracy of one run, from those of its steps (no accuracies: not measured)."""
    first, step = seconds[0], statistics.median(seconds[1:])
    finite = all(math.isfinite(loss) for loss in losses)
    third = max(1, len(losses) // 3)
    fell = finite and statistics.fmean(losses[-third:]) < statistics.fmean(losses[:third])
    return {
        "first_step_seconds": round(first, 4),
        "step_seconds": round(step, 6),
        "samples_per_second": round(global_batch / step, 1),
        "loss": {"first": _finite(losses[0]), "last": _finite(losses[-1])},
        "losses_finite": finite,
        "loss_fell": fell if finite else None,
        "accuracy": _finite(statistics.fmean(accuracies[-third:])) if accuracies else None,
    }


def weights(network: Any, before: list[Any]) -> dict[str, Any]:
    """Whether every trainable weight moved and stayed finite, and whether all replicas hold the same bits."""
    import numpy as np

    reached, equal = True, None
    for weight, old in zip(network.trainable_weights, before):
        new = weight.numpy()
        reached = reached and bool(np.isfinite(new).all()) and not np.array_equal(new, old)
        replicas = getattr(getattr(weight, "_value", weight), "values", None)
        if replicas is not None and not callable(replicas) and len(replicas) > 1:
            values = [replica.numpy().tobytes() for replica in replicas]
            equal = (equal is not False) and all(value == values[0] for value in values)
    return {"gradients_reach_weights": reached, "replicas_equal": equal}


def _judge(result: dict[str, Any]) -> str | None:
    """Why a run that came to its end is no proof; None if it is one."""
    if not result["losses_finite"]:
        return "the loss is not finite"
    if not result["loss_fell"]:
        return f"the loss did not fall: {result['loss']['first']:.3g} to {result['loss']['last']:.3g}"
    if result["accuracy"] is not None and result["accuracy"] < 2 / CLASSES:
        return f"the accuracy stayed near chance: {result['accuracy']:.2f} on {CLASSES} classes"
    if not result["gradients_reach_weights"]:
        return "some weights did not change, or are not finite"
    if result["placement_verified"] is False:
        where = ", ".join(result["misplaced_ops"][:3]) or "not every device took part"
        return f"the work did not run where it was placed: {where}"
    if result["replicas_equal"] is False:
        return "the replicas' weights differ"
    return None


def _reset_memory(tf: Any, devices: tuple[str, ...]) -> None:
    for device in devices:
        if device.startswith("GPU"):
            try:
                tf.config.experimental.reset_memory_stats(device)
            except (AttributeError, ValueError):
                return


def _peak_memory(tf: Any, devices: tuple[str, ...]) -> int | None:
    try:
        peaks = [tf.config.experimental.get_memory_info(device)["peak"] for device in devices if device.startswith("GPU")]
    except (AttributeError, ValueError, KeyError):
        return None
    return max(peaks, default=None)


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _first_sentence(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:600]
