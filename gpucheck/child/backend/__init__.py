"""The child that trains the smoke job with Keras on JAX or PyTorch; TensorFlow is not imported.

Stages, in order: import, devices, keras, plan, one ``train ...`` per run. What differs between the two frameworks is in a file
of its own each, with the same functions: ``jax`` and ``torch``; ``fit`` trains.
"""

from __future__ import annotations

import importlib
import json
import time
from typing import Any

from gpucheck.child import inspection, plan
from gpucheck.child.backend import fit
from gpucheck.child.runtime import Stages
from gpucheck.strategies import mirrored, one_device

STRATEGIES = ("one_device", "data_parallel")


def run(stages: Stages, args: list[str]) -> None:
    """Inspect, then train.

    Args:
        stages: the report to the parent.
        args: one JSON object: ``backend`` ("jax" or "torch"), ``smoke`` (bool), ``level`` (int), ``strategies`` (names; empty:
            all), ``logical_devices`` (int, 0: as the level says). Keras is told its backend by KERAS_BACKEND or its keras.json.
    """
    import faulthandler

    faulthandler.enable()
    settings = json.loads(args[0])
    framework = importlib.import_module("gpucheck.child.backend." + settings["backend"])
    full = settings["level"] >= plan.FULL
    framework.prepare(settings["logical_devices"] or plan.REPLICAS[full])
    devices = _inspected(stages, framework)
    keras, backend = inspection.import_keras(stages)
    if devices is None or not settings["smoke"] or backend != settings["backend"]:
        return
    stages.begin("plan")
    free = (stages.hear(plan.HEAR_SECONDS) or {}).get("free_bytes", {})
    runs = _plan(framework, keras, *plan.usable(devices, free), full, settings)
    stages.end("plan", runs)
    for item in runs:
        if not item["skip"]:
            fit.train(stages, framework, keras, item)


def _inspected(stages: Stages, framework: Any) -> list[str] | None:
    """Import the framework and list its devices; returns their names, None if it can't be imported."""
    stages.begin("import")
    started = time.perf_counter()
    try:
        with inspection.unsearched():
            built = framework.load()
    except BaseException as error:
        stages.end("import", {"imported": False, **inspection.problem(error)})
        return None
    stages.end("import", {"imported": True, "import_seconds": round(time.perf_counter() - started, 3), **built})
    stages.begin("devices")
    devices, problem = framework.devices()
    stages.end("devices", {"devices": devices, "problem": problem})
    return [device["name"] for device in devices]


def _plan(
    framework: Any, keras: Any, usable: list[str], unusable: dict[str, str], full: bool, settings: dict[str, Any]
) -> list[dict[str, Any]]:
    """What is trained; like TensorFlow's jobs, except that nothing is compiled in more than the framework's own way."""
    wanted = settings["strategies"]
    accelerators = [device for device in usable if not device.startswith("CPU")]
    runs: list[dict[str, Any]] = []
    for name in STRATEGIES:
        if wanted and name not in wanted:
            continue
        if name == "one_device":
            singles = accelerators + (usable[len(accelerators) :][:1] if full or not accelerators else [])
            for precision in one_device.PRECISIONS[: None if full else 1]:
                runs += [plan.planned(name, (device,), precision, framework.COMPILED) for device in singles]
            continue
        several = accelerators or usable
        reason = framework.no_data_parallel(keras)
        if reason is None:
            counts = mirrored.counts(len(several), full)
            runs += [plan.planned(name, tuple(several[:count]), "float32", framework.COMPILED) for count in counts]
        elif wanted or len(several) > 1:
            runs.append(plan.skipped(name, tuple(several), reason))
    runs += [plan.skipped("one_device", (device,), reason) for device, reason in unusable.items()]
    for name in wanted:
        if name not in STRATEGIES:
            reason = (
                f"{name} is a strategy of tf.distribute; Keras on {framework.TITLE} is trained with {' and '.join(STRATEGIES)}"
            )
            runs.append(plan.skipped(name, (), reason))
    if accelerators and settings["logical_devices"]:
        reason = f"{framework.TITLE} can't split an accelerator into logical devices"
        runs.append(plan.skipped("one_device", (), reason))
    return [{**item, "backend": settings["backend"]} for item in runs]
