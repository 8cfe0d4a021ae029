"""The child that measures: it imports TensorFlow, hears what to measure, and reports raw seconds, one stage per configuration.

Every configuration trains the smoke job's network. One compiled training step (Keras' ``train_step`` under ``strategy.run``, as
``Model.fit`` compiles it) is fed in turn from the input pipeline and from one batch that stays on the devices, so that the
difference is the pipeline's. Steps are not waited for one by one: the clock is read when the last one of an epoch is done.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import time
from typing import Any

from gpucheck.child import inspection, smoke
from gpucheck.child.runtime import Stages

HEAR_SECONDS = 120.0
WARMUP_STEPS = 3  # per source of data; the first one traces, compiles and autotunes
PROFILED_STEPS = 20  # more make a trace that no viewer opens
SHAPE = (32, 32, 3)  # of a sample of the smoke model


class Unusable(Exception):
    """Data that can't be trained on; its words are for the user."""


def run(stages: Stages, args: list[str]) -> None:
    """Import, tell the devices, then measure what the parent asks for.

    Stages: import, devices, keras, data, then "measure <number>" for each configuration.

    Args:
        stages: the report to the parent. It answers with one message: ``cpu_devices`` (logical CPU devices, 0: leave it),
            ``items`` (see ``gpucheck/bench/plan.py``), ``data``, ``steps`` (0: a whole pass over the data), ``epochs``,
            ``repeats``, ``target_accuracy`` and ``profile`` (a folder, or None).
        args: unused.
    """
    import faulthandler

    faulthandler.enable()
    tf = inspection.import_tensorflow(stages)
    if tf is None:
        return
    inspection.list_devices(stages, tf)
    inspection.memory_growth(stages, tf)
    keras, backend = inspection.import_keras(stages, tf)
    job = stages.hear(HEAR_SECONDS)
    if keras is None or backend != "tensorflow" or job is None:
        return
    cpus = tf.config.list_physical_devices("CPU")
    if job["cpu_devices"] > 1 and cpus:
        tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * job["cpu_devices"])
    stages.begin("data")
    try:
        arrays = load(keras, job["data"])
    except Unusable as error:
        stages.end("data", {"problem": str(error)})
        return
    except Exception as error:  # a download that fails, a dataset that does not fit into memory
        stages.end("data", {"problem": f"{job['data']}: {type(error).__name__}: {error}"[:600]})
        return
    stages.end("data", {"problem": None, "samples": None if arrays is None else len(arrays[0])})
    for item in job["items"]:
        _measure(stages, tf, keras, arrays, item, job)


def load(keras: Any, source: str) -> tuple[Any, Any] | None:
    """Images and labels of a source: "synthetic" (None: generated batch by batch), "cifar10" or the path of an .npz file.

    Raises:
        Unusable: the file does not hold what the network trains on.
    """
    if source == "synthetic":
        return None
    import numpy as np

    if source == "cifar10":
        (images, labels), _ = keras.datasets.cifar10.load_data()  # downloads, unless it did so before
        return images, labels.reshape(-1).astype("int32")
    try:
        with open(source, "rb") as raw:
            file = np.load(raw, allow_pickle=False)
            if not hasattr(file, "files"):
                raise Unusable(f"{source}: a single array; expected an .npz file with the arrays x and y")
            missing = [name for name in ("x", "y") if name not in file.files]
            if missing:
                raise Unusable(f"{source}: no array {' and no array '.join(missing)}; it holds {', '.join(file.files) or 'none'}")
            images, labels = file["x"], file["y"]
    except Unusable:
        raise
    except Exception as error:  # OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, MemoryError
        raise Unusable(f"{source}: not an .npz file that can be read: {type(error).__name__}: {error}") from None
    return checked(np, source, images, labels)


def checked(np: Any, source: str, images: Any, labels: Any) -> tuple[Any, Any]:
    """The arrays as the network takes them: x (n, 32, 32, 3), y (n,) with classes 0 to 9.

    Raises:
        Unusable: another shape, type or range.
    """
    if images.shape[1:] != SHAPE or not len(images):
        raise Unusable(f"{source}: x has the shape {images.shape}; expected (n, 32, 32, 3)")
    if images.dtype.kind not in "uif":
        raise Unusable(f"{source}: x has the type {images.dtype}; expected numbers")
    if images.dtype.kind == "f" and not np.isfinite(images).all():
        raise Unusable(f"{source}: x holds values that are not finite")
    if labels.shape not in ((len(images),), (len(images), 1)):
        raise Unusable(f"{source}: y has the shape {labels.shape}; expected ({len(images)},), one class per sample of x")
    if labels.dtype.kind not in "ui":
        raise Unusable(f"{source}: y has the type {labels.dtype}; expected integers, the classes")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= smoke.CLASSES:
        raise Unusable(f"{source}: y holds classes from {low} to {high}; expected 0 to {smoke.CLASSES - 1}")
    return images, labels.reshape(-1).astype("int32")


def pipeline(tf: Any, arrays: tuple[Any, Any] | None, global_batch: int) -> Any:
    """Batches without end, the way TensorFlow's guide tells to write a pipeline: map, batch, prefetch."""
    if arrays is None:
        return smoke.dataset(tf, global_batch)
    if len(arrays[0]) < global_batch:
        raise Unusable(f"the data has {len(arrays[0])} samples, less than one global batch of {global_batch}")
    scale = 1 / 255 if arrays[0].dtype.kind in "ui" else 1.0

    def prepare(image: Any, label: Any) -> tuple[Any, Any]:
        return tf.cast(image, tf.float32) * scale, label

    data = tf.data.Dataset.from_tensor_slices(arrays).shuffle(min(len(arrays[0]), 10_000), seed=smoke.SEED)
    data = data.map(prepare, num_parallel_calls=tf.data.AUTOTUNE).batch(global_batch, drop_remainder=True)
    return data.repeat().prefetch(tf.data.AUTOTUNE)


def _measure(stages: Stages, tf: Any, keras: Any, arrays: Any, item: dict[str, Any], job: dict[str, Any]) -> None:
    """One configuration, reported under its stage; an exception is an answer too."""
    stage = item["stage"]
    result: dict[str, Any] = {"problem": None}
    stages.begin(stage)
    try:
        keras.backend.clear_session()
        keras.mixed_precision.set_global_policy(item["precision"])
        keras.utils.set_random_seed(smoke.SEED)
        result.update(_configuration(stages, tf, keras, arrays, item, job))
    except Unusable as error:
        result["problem"] = str(error)
    except Exception as error:
        result["problem"] = f"{type(error).__name__}: {_sentence(error)}"
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    stages.end(stage, result)


def _configuration(stages: Stages, tf: Any, keras: Any, arrays: Any, item: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Build, warm up, measure. All times in seconds; ``began`` and ``ended`` on the monotonic clock of the machine."""
    devices = tuple(item["device_names"])
    strategy = importlib.import_module("gpucheck.strategies." + item["strategy"]).build(tf, devices)
    replicas = strategy.num_replicas_in_sync
    global_batch = item["batch_size"] * replicas
    steps = job["steps"] or max(1, len(arrays[0]) // global_batch)
    smoke._reset_memory(tf, devices)
    data = pipeline(tf, arrays, global_batch)
    with strategy.scope():
        network = smoke.model(keras, item["xla"])
        network.optimizer.build(network.trainable_variables)
    # Lets Keras make the metrics' variables: under several replicas a step that makes them itself can't be compiled.
    network.evaluate(data, steps=1, verbose=0)
    trainer = Trainer(tf, strategy, network, item["xla"])
    initial = [variable.numpy() for variable in trainer.variables]
    stages.begin(stage_of(item, "warm-up"))
    source = iter(strategy.experimental_distribute_dataset(data))
    batch = trainer.keep(next(source))
    began = time.perf_counter()
    trainer.piped(source, 1)
    first = time.perf_counter() - began
    trainer.piped(source, WARMUP_STEPS - 1)
    trainer.resident(batch, WARMUP_STEPS)
    result: dict[str, Any] = {
        "replicas": replicas,
        "global_batch_size": global_batch,
        "steps": steps,
        "first_step_seconds": first,
        "warmup_seconds": time.perf_counter() - began,
        "warmup_steps": 2 * WARMUP_STEPS,
        "repeats": [],
    }
    began = time.monotonic()
    for number in range(job["repeats"]):
        stages.begin(stage_of(item, f"run {number + 1} of {job['repeats']}"))
        trainer.reset(initial)
        source = iter(strategy.experimental_distribute_dataset(data))
        repeat = trainer.epochs(source, steps, job["epochs"], job["target_accuracy"])
        repeat["device_seconds"] = trainer.resident(batch, steps)
        result["repeats"].append(repeat)
    result.update(began=began, ended=time.monotonic(), peak_memory_bytes=smoke._peak_memory(tf, devices))
    if job["profile"]:
        stages.begin(stage_of(item, "profile"))
        result["profile"] = _profile(tf, trainer, source, min(steps, PROFILED_STEPS), os.path.join(job["profile"], item["name"]))
    return result


def stage_of(item: dict[str, Any], step: str) -> str:
    """Name of a step inside an item's stage."""
    return f"{item['stage']}: {step}"


def _profile(tf: Any, trainer: Trainer, source: Any, steps: int, folder: str) -> dict[str, Any]:
    """Trace a few more steps, after and apart from those that were measured: tracing slows them down."""
    try:
        tf.profiler.experimental.start(folder)
        try:
            trainer.piped(source, steps)
        finally:
            tf.profiler.experimental.stop()
    except Exception as error:
        return {"folder": folder, "problem": f"{type(error).__name__}: {_sentence(error)}"}
    return {"folder": folder, "problem": None, "steps": steps}


def _sentence(error: BaseException) -> str:
    """What TensorFlow says is wrong, without the stack it prints before."""
    noise = ("File ", "Detected at ", "Graph execution error", "The above exception", "Cf. ", "Traceback ")
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join([line for line in lines if line and not line.startswith(noise)][:2])[:400]


class Trainer:
    """A network's training step, compiled once for each source of data."""

    def __init__(self, tf: Any, strategy: Any, network: Any, xla: bool) -> None:
        """Prepare; nothing is traced yet."""
        self._tf, self._network, self._strategy = tf, network, strategy
        self.variables = [*network.variables, *network.optimizer.variables]

        def on_replica(data: Any) -> Any:
            return network.train_step(data)["loss"]

        inner = tf.function(on_replica, jit_compile=True) if xla else on_replica

        def from_iterator(iterator: Any) -> Any:
            return strategy.run(inner, args=(next(iterator),))

        def from_batch(batch: Any) -> Any:
            return strategy.run(inner, args=(batch,))

        self._from_iterator, self._from_batch = tf.function(from_iterator), tf.function(from_batch)

    def keep(self, batch: Any) -> Any:
        """The batch in the devices' own memory, wherever the iterator left it."""

        def copied(data: Any) -> Any:
            return self._tf.nest.map_structure(self._tf.identity, data)

        return self._strategy.run(copied, args=(batch,))

    def reset(self, values: list[Any]) -> None:
        """Give every weight and the optimizer's state these values again: each run does the same work."""
        with self._strategy.scope():
            for variable, value in zip(self.variables, values):
                variable.assign(value)

    def piped(self, source: Any, steps: int) -> float:
        """Seconds of some steps on the input pipeline."""
        return self._timed(self._from_iterator, source, steps)

    def resident(self, batch: Any, steps: int) -> float:
        """Seconds of some steps on one batch that is there already."""
        return self._timed(self._from_batch, batch, steps)

    def epochs(self, source: Any, steps: int, epochs: int, target: float | None) -> dict[str, Any]:
        """Epochs until the target accuracy is reached, if there is one, or all of them."""
        seconds: list[float] = []
        accuracies: list[float] = []
        for _ in range(epochs):
            self._network.reset_metrics()
            seconds.append(self.piped(source, steps))
            with contextlib.suppress(KeyError):
                accuracies.append(float(self._network.get_metrics_result()["accuracy"]))
            if target is not None and accuracies and accuracies[-1] >= target:
                break
        reached = bool(target is not None and accuracies and accuracies[-1] >= target)
        return {"epoch_seconds": seconds, "accuracies": accuracies, "seconds_to_target": sum(seconds) if reached else None}

    def _timed(self, step: Any, data: Any, steps: int) -> float:
        began = time.perf_counter()
        for _ in range(steps):
            loss = step(data)
        for value in self._strategy.experimental_local_results(loss):
            float(value)  # waits for the device
        return time.perf_counter() - began
