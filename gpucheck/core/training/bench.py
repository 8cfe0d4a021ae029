"""The benchmark's child: it imports TensorFlow, receives the configurations to measure, and reports raw seconds.

Every configuration trains the smoke job's network or the user's, in turn on the input pipeline and on one batch that stays on the
devices (``smoke/throughput.py``). The difference is the cost of the pipeline.
"""

from __future__ import annotations

import gc
import os
import time
from typing import Any

from gpucheck.core.child.messages.benchmark import BenchJob, BenchTask, Configuration, DataLoaded, Measured
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training import bench_data, bench_model, framework, inspection, strategies, trace
from gpucheck.core.training.smoke import memory, network, throughput
from gpucheck.core.training.smoke.tensorflow import fresh

RECEIVE_SECONDS = 120.0
WARMUP_STEPS = 3  # executions per data source; the first one traces, compiles and autotunes
PROFILED_STEPS = 20  # viewers can't open larger traces


def run(reporter: Reporter, task: BenchTask) -> None:
    """Import, report the devices, then run the measurements that the parent requests."""
    tf = inspection.import_tensorflow(reporter)
    if tf is None:
        return
    inspection.list_devices(reporter, tf)
    inspection.memory_growth(reporter, tf)
    keras, backend = inspection.import_keras(reporter, tf)
    if task.tpu and not framework.connect_tpu(reporter, tf):
        return  # the parent starts another process for the other strategies
    job = reporter.receive(BenchJob, RECEIVE_SECONDS)
    if keras is None or backend != "tensorflow" or job is None:
        return
    cpus = tf.config.list_physical_devices("CPU")
    if job.cpu_devices > 1 and cpus:
        tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * job.cpu_devices)
    reporter.begin(DataLoaded)
    try:
        arrays, held_out = bench_data.split(bench_data.load(keras, job.data))
    except bench_data.Unusable as error:
        reporter.end(DataLoaded(str(error)))
        return
    except Exception as error:  # for example a failed download, or too little memory for a dataset
        reporter.end(DataLoaded(f"{job.data}: {type(error).__name__}: {error}"[:600]))
        return
    reporter.end(DataLoaded(samples=None if arrays is None else len(arrays[0])))
    for configuration in job.configurations:
        _measure(reporter, tf, keras, (arrays, held_out), configuration, job)


def _measure(
    reporter: Reporter, tf: Any, keras: Any, samples: tuple[Any, Any], configuration: Configuration, job: BenchJob
) -> None:
    """Measure one configuration and report it, or report its exception."""
    reporter.begin(Measured, configuration.id)
    try:
        fresh(keras, configuration.precision)
        result = _measure_steps(reporter, tf, keras, samples, configuration, job)
    except bench_data.Unusable as error:
        result = Measured(str(error))
    except (Exception, SystemExit) as error:  # a user's module may call sys.exit
        result = Measured(bench_model.failure(error))
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    reporter.end(result, configuration.id)


def _measure_steps(
    reporter: Reporter, tf: Any, keras: Any, samples: tuple[Any, Any], configuration: Configuration, job: BenchJob
) -> Measured:
    """Build the network, warm it up, and measure its steps."""
    arrays, held_out = samples
    devices, at_once = tuple(configuration.devices), configuration.steps_per_execution
    strategy = strategies.build(configuration.strategy, tf, devices)
    result = Measured(replicas=strategy.num_replicas_in_sync)
    result.global_batch_size = configuration.batch_size * result.replicas
    memory.reset(tf, devices)
    with strategy.scope():
        own = _user_model(tf, keras, configuration, job, result)
        model = own.model if own else network.model(keras, configuration.xla)
    sample = own.sample if own else tuple(map(tf.constant, network.arrays(1)))
    data = own.data if own else bench_data.pipeline(tf, arrays, result.global_batch_size)
    steps = job.steps or len(arrays[0]) // result.global_batch_size
    result.steps = steps = max(at_once, steps // at_once * at_once)
    if arrays is not None and not job.steps:
        result.dropped_samples = max(0, len(arrays[0]) - steps * result.global_batch_size)
    unseen = None
    if held_out is not None:
        unseen, result.held_out_samples = bench_data.held_out(tf, held_out, result.global_batch_size)
    trainer = throughput.ready(tf, strategy, model, sample, configuration.xla, at_once, own.first if own else None)
    if job.target_accuracy and (result.generated or "accuracy" not in model.get_metrics_result()):
        raise bench_data.Unusable(f"{job.model}: --target-accuracy needs data, and a metric named accuracy")
    initial = [variable.numpy() for variable in trainer.variables]
    reporter.begin(Measured, configuration.id, "warm-up")
    source = trainer.source(data)
    batch = trainer.keep(next(source))
    began = time.perf_counter()
    trainer.piped(source, at_once)
    result.first_step_seconds = time.perf_counter() - began
    trainer.piped(source, (WARMUP_STEPS - 1) * at_once)
    trainer.resident(batch, WARMUP_STEPS * at_once)
    result.warmup_seconds = time.perf_counter() - began
    result.warmup_steps = 2 * WARMUP_STEPS * at_once
    result.began = time.monotonic()
    for number in range(job.repeats):
        reporter.begin(Measured, configuration.id, f"run {number + 1} of {job.repeats}")
        trainer.reset(initial)
        source = trainer.source(data)
        repeat = trainer.epochs(source, steps, job.epochs, job.target_accuracy, unseen)
        repeat.device_seconds = trainer.resident(batch, steps)
        if result.generated:
            repeat.accuracies = []  # the labels are random
        result.repeats.append(repeat)
        if not trainer.finite:
            return Measured("the loss is not finite, so the training speed means nothing")
    result.ended = time.monotonic()
    result.peak_memory_bytes = memory.peak(tf, devices)
    if job.profile:
        reporter.begin(Measured, configuration.id, "profile")
        folder = os.path.join(job.profile, configuration.folder)
        traced = min(steps, max(at_once, PROFILED_STEPS // at_once * at_once))
        result.profile = trace.trace(tf, trainer, source, traced, folder, devices)
    return result


def _user_model(tf: Any, keras: Any, configuration: Configuration, job: BenchJob, result: Measured) -> bench_model.Own | None:
    """Return the user's network and data, and record their batch in the result; None: use those of the smoke job."""
    if not job.model:
        return None
    default = network.batch_size(configuration.devices[0]) * result.replicas
    own = bench_model.build(tf, keras, job.model, configuration.precision, result.global_batch_size, default, result.replicas)
    result.global_batch_size, result.generated = own.global_batch, own.generated
    return own
