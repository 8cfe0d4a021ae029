"""How well several devices train together, and where a step's time goes: the pipeline, computing, the exchange of gradients.

Scaling efficiency is the samples per second of N devices over N times those of one alone, with the same batch per replica, both
measured here in the same loop. Beside it: the same with twice that batch, steps on one batch that is repeated (no pipeline to
wait for), one replica's step alone (no exchange), and the exchange alone.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from gpucheck.core.child.experiments import NotHere, Setting
from gpucheck.core.child.messages.training import ExperimentResult, TrainingRun
from gpucheck.core.child.smoke import network
from gpucheck.core.child.smoke.shares import scaling_efficiency
from gpucheck.core.child.smoke.tensorflow import fresh
from gpucheck.core.child.smoke.throughput import trainer
from gpucheck.core.training.experiments._measure import build_strategy, forget, step_seconds

PAYLOAD_BYTES = {"CPU": 4 << 20, "GPU": 32 << 20}  # per replica: enough that starting the exchange no longer counts


def run(setting: Setting) -> ExperimentResult:
    """Measure the largest mirrored job that has passed, and its first device alone."""
    trained = _largest(setting)
    devices = list(trained.devices)
    count, batch = len(devices), network.batch_size(devices[0])
    on_one = _steps(setting, devices[:1], batch)
    every = _steps(setting, devices, batch)
    figures: dict[str, float | None] = {"replicas": count, "per_replica_batch_size": batch}
    for name, samples in (("", batch), ("doubled_batch_", 2 * batch)):
        alone, together = samples / on_one[f"{name}step_seconds"], count * samples / every[f"{name}step_seconds"]
        figures[f"{name}one_device_samples_per_second"] = round(alone, 1)
        figures[f"{name}all_devices_samples_per_second"] = round(together, 1)
        figures[f"{name}scaling_efficiency"] = round(scaling_efficiency(together, alone, count), 4)
    for name in ("step_seconds", "repeated_batch_step_seconds"):
        figures[f"one_device_{name}"], figures[f"all_devices_{name}"] = round(on_one[name], 6), round(every[name], 6)
    figures.update(_exchange(setting, devices))
    forget(setting.keras)
    result = ExperimentResult(tuple(devices), figures)
    if not devices[0].startswith("CPU"):  # logical CPU devices share their cores: that says nothing of the job's devices
        trained.scaling_efficiency = figures["scaling_efficiency"]
        trained.doubled_batch_scaling_efficiency = figures["doubled_batch_scaling_efficiency"]
        result.run = trained
    return result


def _largest(setting: Setting) -> TrainingRun:
    """Of logical CPU devices two: more of them share the same cores, and only take longer."""
    devices = setting.devices()
    most = 2 if devices[0].startswith("CPU") else len(devices)
    for count in range(most, 1, -1):
        trained = setting.passed("mirrored", count)
        if trained is not None:
            return trained
    raise NotHere("no mirrored job on several devices has passed")


def _steps(setting: Setting, devices: list[str], batch: int) -> dict[str, float]:
    """Seconds of a step on the smoke job's pipeline, with twice the batch, and on one batch again and again.

    The batch's size is not traced, so that one trace, which takes about a second for each replica, does for all of them. While it
    lasts a pipeline prepares batches ahead: the first to be measured is the one that has nothing to prepare. It is measured after
    the others as well, so that a change of clock or load falls on both sides.
    """
    tf, whole = setting.tf, batch * len(devices)
    fresh(setting.keras, "float32")
    job = trainer(tf, setting.keras, build_strategy(setting, devices))
    repeated = tf.data.Dataset.from_tensor_slices(network.arrays(whole)).batch(whole).cache().repeat()
    repeated = repeated.prefetch(tf.data.AUTOTUNE)
    sources = {
        "before": repeated,
        "step_seconds": network.dataset(tf, whole, drop_remainder=False),
        "doubled_batch_step_seconds": network.dataset(tf, 2 * whole, drop_remainder=False),
        "after": repeated,
    }
    seconds = {name: step_seconds(partial(job.piped, job.source(data))) for name, data in sources.items()}
    seconds["repeated_batch_step_seconds"] = statistics.fmean((seconds.pop("before"), seconds.pop("after")))
    del job
    forget(setting.keras)
    return seconds


def exchange(tf: Any, strategy: Any) -> Callable[[Any], Any]:
    """A compiled function that sums a list of tensors over all replicas, the way an optimizer has its gradients summed."""

    def on_replica(tensors: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, tensors)

    def step(tensors: Any) -> Any:
        return strategy.run(on_replica, args=(tensors,))

    compiled: Callable[[Any], Any] = tf.function(step)
    return compiled


def _exchange(setting: Setting, devices: list[str]) -> dict[str, float]:
    """The exchange alone: of gradients like the network's, and of so many bytes that only the way between the devices counts."""
    tf = setting.tf
    strategy = build_strategy(setting, devices)
    with tf.device("/" + setting.names[devices[0]]):
        gradients = [tuple(weight.shape) for weight in network.model(setting.keras, False).trainable_variables]
    large = PAYLOAD_BYTES["GPU" if devices[0].startswith("GPU") else "CPU"]
    seconds, large_seconds = _exchanged(tf, strategy, gradients), _exchanged(tf, strategy, [(large // 4,)])
    return {
        "gradient_bytes": 4 * sum(int(tf.reduce_prod(shape)) for shape in gradients),
        "gradient_all_reduce_seconds": round(seconds, 7),
        "large_all_reduce_bytes": large,
        "large_all_reduce_seconds": round(large_seconds, 7),
        "large_all_reduce_bytes_per_second": round(large / large_seconds),
    }


def _exchanged(tf: Any, strategy: Any, shapes: list[tuple[int, ...]]) -> float:
    """Seconds of one exchange of float32 tensors of these shapes."""

    def ones() -> Any:
        return [tf.ones(shape) for shape in shapes]

    summed, tensors = exchange(tf, strategy), tf.function(strategy.run)(ones)

    def timed(times: int) -> float:
        began = time.perf_counter()
        for _ in range(times):
            sums = summed(tensors)
        for value in strategy.experimental_local_results(sums[-1]):
            float(tf.reshape(value, [-1])[0])  # waits for the device
        return time.perf_counter() - began

    return step_seconds(timed)
