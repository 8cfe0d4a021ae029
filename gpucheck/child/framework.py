"""The child that imports TensorFlow, once: it tells what it sees, then trains as planned.

Stages, in order: import, devices, growth, mapped, keras, tpu, plan, one ``train ...`` per run, one ``xla ...`` per device.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from typing import Any

from gpucheck.child import inspection, smoke
from gpucheck.child.runtime import Stages

NEEDED_BYTES = 3 << 29  # 1.5 GiB: context, cuDNN workspaces and the smoke model, measured 0.5 GiB on an H200
HEAR_SECONDS = 25.0  # the parent's word on free memory comes within a second; a hanging NVML delays it
TPU_SECONDS = 60.0


def run(stages: Stages, args: list[str]) -> None:
    """Inspect, then train.

    Args:
        stages: the report to the parent.
        args: one JSON object: ``smoke`` (bool), ``level`` (int), ``strategies`` (names; empty: all), ``tpu`` (bool).
    """
    import faulthandler

    faulthandler.enable()
    settings = json.loads(args[0])
    tf = inspection.import_tensorflow(stages)
    if tf is None:
        return
    devices = inspection.list_devices(stages, tf)
    inspection.memory_growth(stages, tf)
    inspection.mapped_libraries(stages)
    keras, backend = inspection.import_keras(stages, tf)
    tpus = _connect_tpu(stages, tf) if settings["tpu"] else []
    if not settings["smoke"]:
        return
    stages.begin("plan")
    free = (stages.hear(HEAR_SECONDS) or {}).get("free_bytes", {})
    usable, unusable = _usable(devices, free)
    names = _logical(tf, usable, split_cpu=not any(device.startswith("GPU") for device in usable))
    inspection.growth_refused(stages, tf, usable)
    runs = plan([*names, *tpus], settings["level"], settings["strategies"])
    if backend != "tensorflow":
        reason = f"Keras runs on {backend or 'no backend'} here; TensorFlow's strategies cannot train it"
        runs = [{**item, "skip": item.get("skip") or reason} for item in runs]
    runs += [skipped("one_device", (device,), reason) for device, reason in unusable.items()]
    stages.end("plan", runs)
    trained = [item for item in runs if not item["skip"]]
    for item in trained:
        smoke.train(stages, tf, keras, item, names)
    for device in dict.fromkeys(item["devices"][0] for item in trained if item["strategy"] == "one_device"):
        smoke.xla_step(stages, tf, device, names)  # last: an XLA without its tools may take the process down


def plan(devices: list[str], level: int, wanted: list[str]) -> list[dict[str, Any]]:
    """The runs: strategy by strategy, device tuple by device tuple, precision by precision.

    Returns:
        One dict per run: ``strategy``, ``devices``, ``precision``, ``compiled``, ``skip`` (a reason, or None), ``stage``.
    """
    runs = []
    for name in strategies():
        module = importlib.import_module("gpucheck.strategies." + name)
        if wanted and name not in wanted:
            continue
        if level < module.LEVEL and name not in wanted:
            continue
        placements = module.placements(devices, level > 1)
        if isinstance(placements, str):
            if name in wanted or name != "tpu":
                runs.append(skipped(name, (), placements))
            continue
        for chosen in placements:
            for precision in module.PRECISIONS if level > 1 else module.PRECISIONS[:1]:
                runs.append(planned(name, chosen, precision))
            if level > 1 and name == "one_device":
                runs.append(planned(name, chosen, "float32", compiled=True))
    return runs


def strategies() -> list[str]:
    """Names of the strategies: the files of their folder."""
    package = importlib.import_module("gpucheck.strategies")
    order = {"one_device": 0, "mirrored": 1}
    return sorted((item.name for item in pkgutil.iter_modules(package.__path__)), key=lambda name: (order.get(name, 9), name))


def planned(strategy: str, devices: tuple[str, ...], precision: str, compiled: bool = False) -> dict[str, Any]:
    """One run to be trained."""
    stage = f"train {strategy} {','.join(devices)} {precision}" + (" xla" if compiled else "")
    return {
        "strategy": strategy,
        "devices": list(devices),
        "precision": precision,
        "compiled": compiled,
        "skip": None,
        "stage": stage,
    }


def skipped(strategy: str, devices: tuple[str, ...], reason: str) -> dict[str, Any]:
    """One run that can't be trained, and why."""
    return {**planned(strategy, devices, "float32"), "skip": reason}


def _usable(devices: list[str], free: dict[str, int]) -> tuple[list[str], dict[str, str]]:
    """Devices with room for the smoke job, and why the others have none. ``free`` is by GPU number; unknown is usable."""
    usable, unusable = [], {}
    for device in devices:
        room = free.get(device.split(":")[1]) if device.startswith("GPU") else None
        if room is not None and room < NEEDED_BYTES:
            unusable[device] = (
                f"only {room / 2**30:.1f} GiB of its memory are free; the smoke job needs {NEEDED_BYTES / 2**30:.1f} GiB"
            )
        else:
            usable.append(device)
    return usable, unusable


def _logical(tf: Any, usable: list[str], split_cpu: bool) -> dict[str, str]:
    """Make only the usable devices visible, initialise, and map each device's name to TensorFlow's logical name.

    TensorFlow numbers the visible GPUs anew. Where the CPU is all there is, it is split into two logical devices, so that
    replication is really exercised.
    """
    by_name = {inspection.name_of(device): device for device in tf.config.list_physical_devices()}
    gpus = [name for name in usable if name.startswith("GPU")]
    tf.config.set_visible_devices([by_name[name] for name in gpus], "GPU")
    cpus = tf.config.list_physical_devices("CPU")
    if split_cpu and cpus:
        tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    logical = [inspection.name_of(device) for device in tf.config.list_logical_devices()]
    names = dict(zip(gpus, [name for name in logical if name.startswith("GPU")]))
    names.update((name, name) for name in logical if name.startswith("CPU"))
    return names


def _connect_tpu(stages: Stages, tf: Any) -> list[str]:
    """Try the TPU under a limit of its own: connecting can block for minutes."""
    import threading

    from gpucheck.strategies import tpu

    answer: dict[str, Any] = {"connected": False, "error": f"no answer within {TPU_SECONDS:.0f} s"}

    def connect() -> None:
        try:
            answer.update(devices=tpu.connect(tf), connected=True, error=None)
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"[:1000]

    stages.begin("tpu")
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(TPU_SECONDS)
    stages.end("tpu", dict(answer))
    return [f"TPU:{index}" for index in range(answer.get("devices") or 0)]
