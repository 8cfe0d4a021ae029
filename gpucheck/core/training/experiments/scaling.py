"""Measure the scaling efficiency of several devices, and the parts of a step: pipeline, computation, exchange of gradients.

Scaling efficiency is the samples per second of N devices divided by N times those of one device, with the same batch per replica
and in the same loop. Also measured: the efficiency with a doubled batch, steps on one repeated batch (no wait for the pipeline),
steps of one replica (no exchange), and the exchange alone.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from gpucheck.core.child.messages.training import ExperimentResult, TrainingRun
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.training.experiments._measure import build_strategy, forget, step_seconds
from gpucheck.core.training.smoke import network
from gpucheck.core.training.smoke.tensorflow import fresh
from gpucheck.core.training.smoke.throughput import scaling_efficiency, trainer

PAYLOAD_BYTES = 32 << 20  # per replica: large enough to make the exchange's startup cost negligible


def run(setting: Setting) -> ExperimentResult:
    """Measure the largest passed mirrored job, and its first device alone."""
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
    trained.scaling_efficiency = figures["scaling_efficiency"]
    trained.doubled_batch_scaling_efficiency = figures["doubled_batch_scaling_efficiency"]
    return ExperimentResult(tuple(devices), figures, run=trained)


def _largest(setting: Setting) -> TrainingRun:
    """Return the largest passed mirrored job."""
    devices = setting.devices()
    if len(devices) > 1 and devices[0].startswith("CPU"):
        raise NotHere("the logical devices of a CPU share its cores")
    for count in range(len(devices), 1, -1):
        trained = setting.passed("mirrored", count)
        if trained is not None:
            return trained
    raise NotHere("no mirrored job on several devices has passed")


def _steps(setting: Setting, devices: list[str], batch: int) -> dict[str, float]:
    """Return the seconds of a step on the smoke job's pipeline, also with a doubled batch, and on one repeated batch.

    The batch size is not traced: one trace, which takes about a second per replica, serves all. During tracing a pipeline
    prefetches batches, so the repeated batch, which needs no preparation, is measured first. It is also measured last, so that a
    change of clock or load affects both.
    """
    tf, whole = setting.tf, batch * len(devices)
    fresh(setting.keras, "float32")
    job = trainer(tf, setting.keras, build_strategy(setting, devices))
    repeated = tf.data.Dataset.from_tensor_slices(network.arrays(whole)).batch(whole).cache().repeat()
    repeated = network.untuned(tf, repeated.prefetch(1))
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
    """Return a compiled function that sums a list of tensors over all replicas, as an optimizer does with gradients."""

    def on_replica(tensors: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, tensors)

    def step(tensors: Any) -> Any:
        return strategy.run(on_replica, args=(tensors,))

    compiled: Callable[[Any], Any] = tf.function(step)
    return compiled


def _exchange(setting: Setting, devices: list[str]) -> dict[str, float]:
    """Measure the exchange alone: of gradients like the network's, and of a payload large enough to measure the bandwidth."""
    tf = setting.tf
    strategy = build_strategy(setting, devices)
    with tf.device("/" + setting.names[devices[0]]):
        gradients = [tuple(weight.shape) for weight in network.model(setting.keras, False).trainable_variables]
    seconds, large_seconds = _exchanged(tf, strategy, gradients), _exchanged(tf, strategy, [(PAYLOAD_BYTES // 4,)])
    return {
        "gradient_bytes": 4 * sum(int(tf.reduce_prod(shape)) for shape in gradients),
        "gradient_all_reduce_seconds": round(seconds, 7),
        "large_all_reduce_bytes": PAYLOAD_BYTES,
        "large_all_reduce_seconds": round(large_seconds, 7),
        "large_all_reduce_bytes_per_second": round(PAYLOAD_BYTES / large_seconds),
    }


def _exchanged(tf: Any, strategy: Any, shapes: list[tuple[int, ...]]) -> float:
    """Return the seconds of one exchange of float32 tensors of these shapes."""

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
