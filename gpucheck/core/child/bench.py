"""The benchmark's child: it imports TensorFlow, receives the configurations to measure, and reports raw seconds.

Every configuration trains the smoke job's network, in turn on the input pipeline and on one batch that stays on the devices
(``smoke/throughput.py``). The difference is the cost of the pipeline.
"""

from __future__ import annotations

import gc
import os
import time
from typing import Any

from gpucheck.core.child import bench_data, inspection, trace
from gpucheck.core.child.messages.benchmark import BenchJob, BenchTask, Configuration, DataLoaded, Measured
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.child.smoke import memory, throughput
from gpucheck.core.child.smoke.tensorflow import fresh
from gpucheck.core.training import strategies

TASK = BenchTask
RECEIVE_SECONDS = 120.0
WARMUP_STEPS = 3  # per source of data; the first one traces, compiles and autotunes
PROFILED_STEPS = 20  # viewers can't open larger traces


def run(reporter: Reporter, task: BenchTask) -> None:
    """Import, report the devices, then measure what the parent asks for."""
    import faulthandler

    faulthandler.enable()
    tf = inspection.import_tensorflow(reporter)
    if tf is None:
        return
    inspection.list_devices(reporter, tf)
    inspection.memory_growth(reporter, tf)
    keras, backend = inspection.import_keras(reporter, tf)
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
    except Exception as error:  # a download that fails, a dataset that does not fit into memory
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
        result = _times(reporter, tf, keras, samples, configuration, job)
    except bench_data.Unusable as error:
        result = Measured(str(error))
    except Exception as error:
        result = Measured(f"{type(error).__name__}: {sentence(error)}")
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    reporter.end(result, configuration.id)


def _times(
    reporter: Reporter, tf: Any, keras: Any, samples: tuple[Any, Any], configuration: Configuration, job: BenchJob
) -> Measured:
    """Build the network, warm it up, and measure its steps."""
    arrays, held_out = samples
    devices = tuple(configuration.devices)
    strategy = strategies.build(configuration.strategy, tf, devices)
    result = Measured(replicas=strategy.num_replicas_in_sync)
    result.global_batch_size = configuration.batch_size * result.replicas
    result.steps = steps = job.steps or max(1, len(arrays[0]) // result.global_batch_size)
    if arrays is not None and not job.steps:
        result.dropped_samples = len(arrays[0]) - steps * result.global_batch_size
    memory.reset(tf, devices)
    data = bench_data.pipeline(tf, arrays, result.global_batch_size)
    unseen = None
    if held_out is not None:
        unseen, result.held_out_samples = bench_data.held_out(tf, held_out, result.global_batch_size)
    trainer = throughput.trainer(tf, keras, strategy, configuration.xla)
    initial = [variable.numpy() for variable in trainer.variables]
    reporter.begin(Measured, configuration.id, "warm-up")
    source = trainer.source(data)
    batch = trainer.keep(next(source))
    began = time.perf_counter()
    trainer.piped(source, 1)
    result.first_step_seconds = time.perf_counter() - began
    trainer.piped(source, WARMUP_STEPS - 1)
    trainer.resident(batch, WARMUP_STEPS)
    result.warmup_seconds = time.perf_counter() - began
    result.warmup_steps = 2 * WARMUP_STEPS
    result.began = time.monotonic()
    for number in range(job.repeats):
        reporter.begin(Measured, configuration.id, f"run {number + 1} of {job.repeats}")
        trainer.reset(initial)
        source = trainer.source(data)
        repeat = trainer.epochs(source, steps, job.epochs, job.target_accuracy, unseen)
        repeat.device_seconds = trainer.resident(batch, steps)
        result.repeats.append(repeat)
        if not trainer.finite:
            return Measured("the loss is not finite: this is no training whose speed would say anything")
    result.ended = time.monotonic()
    result.peak_memory_bytes = memory.peak(tf, devices)
    if job.profile:
        reporter.begin(Measured, configuration.id, "profile")
        folder = os.path.join(job.profile, configuration.folder)
        result.profile = trace.trace(tf, trainer, source, min(steps, PROFILED_STEPS), folder, devices)
    return result


def sentence(error: BaseException) -> str:
    """The message of a TensorFlow error, without the stack trace before it."""
    noise = ("File ", "Detected at ", "Graph execution error", "The above exception", "Cf. ", "Traceback ")
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join([line for line in lines if line and not line.startswith(noise)][:2])[:400]
