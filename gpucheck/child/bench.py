"""The child that measures: it imports TensorFlow, hears what to measure, and reports raw seconds, one stage per configuration.

Every configuration trains the smoke job's network, in turn on the input pipeline and on one batch that stays on the devices
(``smoke/throughput.py``), so that the difference is the pipeline's.
"""

from __future__ import annotations

import gc
import importlib
import os
import time
from typing import Any

from gpucheck.child import bench_data, inspection, trace
from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import memory, network, throughput

HEAR_SECONDS = 120.0
WARMUP_STEPS = 3  # per source of data; the first one traces, compiles and autotunes
PROFILED_STEPS = 20  # more make a trace that no viewer opens


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
        arrays = bench_data.load(keras, job["data"])
    except bench_data.Unusable as error:
        stages.end("data", {"problem": str(error)})
        return
    except Exception as error:  # a download that fails, a dataset that does not fit into memory
        stages.end("data", {"problem": f"{job['data']}: {type(error).__name__}: {error}"[:600]})
        return
    stages.end("data", {"problem": None, "samples": None if arrays is None else len(arrays[0])})
    for item in job["items"]:
        _measure(stages, tf, keras, arrays, item, job)


def _measure(stages: Stages, tf: Any, keras: Any, arrays: Any, item: dict[str, Any], job: dict[str, Any]) -> None:
    """One configuration, reported under its stage; an exception is an answer too."""
    stage = item["stage"]
    result: dict[str, Any] = {"problem": None}
    stages.begin(stage)
    try:
        keras.backend.clear_session()
        keras.mixed_precision.set_global_policy(item["precision"])
        keras.utils.set_random_seed(network.SEED)
        result.update(_configuration(stages, tf, keras, arrays, item, job))
    except bench_data.Unusable as error:
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
    memory.reset(tf, devices)
    data = bench_data.pipeline(tf, arrays, global_batch)
    trainer = throughput.trainer(tf, keras, strategy, item["xla"])
    initial = [variable.numpy() for variable in trainer.variables]
    stages.begin(stage_of(item, "warm-up"))
    source = trainer.source(data)
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
        source = trainer.source(data)
        repeat = trainer.epochs(source, steps, job["epochs"], job["target_accuracy"])
        repeat["device_seconds"] = trainer.resident(batch, steps)
        result["repeats"].append(repeat)
        if not trainer.finite:
            return {"problem": "the loss is not finite: this is no training whose speed would say anything"}
    result.update(began=began, ended=time.monotonic(), peak_memory_bytes=memory.peak(tf, devices))
    if job["profile"]:
        stages.begin(stage_of(item, "profile"))
        folder = os.path.join(job["profile"], item["name"])
        result["profile"] = trace.traced(tf, trainer, source, min(steps, PROFILED_STEPS), folder, devices)
    return result


def stage_of(item: dict[str, Any], step: str) -> str:
    """Name of a step inside an item's stage."""
    return f"{item['stage']}: {step}"


def _sentence(error: BaseException) -> str:
    """What TensorFlow says is wrong, without the stack it prints before."""
    noise = ("File ", "Detected at ", "Graph execution error", "The above exception", "Cf. ", "Traceback ")
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join([line for line in lines if line and not line.startswith(noise)][:2])[:400]
