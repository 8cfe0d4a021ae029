"""The child that imports TensorFlow, once: it tells what it sees, then trains as planned.

Stages, in order: backend, import, devices, growth, mapped, keras, tpu, plan, one ``train ...`` per run, one ``experiment ...``
per experiment, one ``xla ...`` per device.
"""

from __future__ import annotations

import json
from typing import Any

from gpucheck.child import experiments, inspection, plan
from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import fit, together, xla

SHARE_BYTES = 600 << 20  # of each logical GPU's share, left to CUDA's context and libraries


def run(stages: Stages, args: list[str]) -> None:
    """Inspect, then train.

    Args:
        stages: the report to the parent.
        args: one JSON object: ``smoke`` (bool), ``level`` (int), ``strategies`` (names; empty: all), ``tpu`` (bool),
            ``logical_devices`` (int, 0: as the level says), ``log_device_placement`` (bool), ``only`` (stages to train, one
            after the other and without experiments; empty: all of the plan), ``cross_device`` (see strategies/mirrored.py).
    """
    import faulthandler

    faulthandler.enable()
    settings = json.loads(args[0])
    elsewhere = inspection.told_backend(stages)
    tf = inspection.import_tensorflow(stages)
    if tf is None:
        return
    if settings["log_device_placement"]:
        tf.debugging.set_log_device_placement(True)
    devices = inspection.list_devices(stages, tf)
    inspection.memory_growth(stages, tf)
    inspection.mapped_libraries(stages)
    if elsewhere:
        return  # Keras, training and a TPU are left to the child that imports JAX or PyTorch
    keras, backend = inspection.import_keras(stages, tf)
    full, wanted = settings["level"] >= plan.FULL, settings["logical_devices"]
    tpus: list[str] = []
    if settings["tpu"]:
        _configure(tf, devices, wanted, wanted or 1, {})  # TensorFlow refuses it once it has tried to connect
        tpus = _connect_tpu(stages, tf)
        if not tpus:
            return  # what the attempt leaves behind can't be trusted to train: the parent starts another child
    if not settings["smoke"]:
        return
    stages.begin("plan")
    free = {} if tpus else (stages.hear(plan.HEAR_SECONDS) or {}).get("free_bytes", {})
    usable, unusable = plan.usable(devices, free)
    if not tpus:
        _configure(tf, usable, wanted, wanted or plan.REPLICAS[full], free)
    names = _names(tf, usable, wanted)
    if not wanted:
        inspection.growth_refused(stages, tf, usable)
    runs = plan.plan([*names, *tpus], settings["level"], settings["strategies"], bool(wanted))
    if backend != "tensorflow":
        reason = f"Keras runs on {backend or 'no backend'} here; TensorFlow's strategies cannot train it"
        runs = [{**item, "skip": item.get("skip") or reason} for item in runs]
    runs += [plan.skipped("one_device", (device,), reason) for device, reason in unusable.items()]
    stages.end("plan", runs)
    chosen = [item for item in runs if not item["skip"] and item["stage"] in (settings["only"] or [item["stage"]])]
    results: list[dict[str, Any]] = []
    for group in [[item] for item in chosen] if settings["only"] else plan.groups(chosen):
        results += _trained(stages, tf, keras, group, names, settings["cross_device"])
    if full and not settings["only"]:
        experiments.run_all(experiments.Setting(stages, tf, keras, names, results))
    trained = dict.fromkeys(item["devices"][0] for item in chosen if item["strategy"] == "one_device")
    cpus = [device for device in trained if device.startswith("CPU")]
    for device in trained:
        if device in cpus[1:]:
            continue  # logical devices of one processor: XLA compiles for it once
        xla.step(stages, tf, device, names)  # last: an XLA without its tools may take the process down


def _trained(
    stages: Stages, tf: Any, keras: Any, group: list[dict[str, Any]], names: dict[str, str], cross_device: str | None
) -> list[dict[str, Any]]:
    """One group of runs: at the same time where there are several and TensorFlow allows it, else one after the other."""
    if len(group) > 1:
        try:
            return together.train(stages, tf, keras, group, names)
        except together.Unshareable:
            pass  # slower, and as good a proof
    return [fit.train(stages, tf, keras, item, names, cross_device if item["strategy"] == "mirrored" else None) for item in group]


def _configure(tf: Any, usable: list[str], wanted: int, cpu: int, free: dict[str, int]) -> None:
    """Make only the usable devices visible, and split them, before TensorFlow initialises any.

    Where the CPU is all there is, it is split into ``cpu`` logical devices, so that replication is really exercised;
    ``wanted``, if more than one, splits each GPU.
    """
    by_name = {inspection.name_of(device): device for device in tf.config.list_physical_devices()}
    gpus = [name for name in usable if name.startswith("GPU")]
    tf.config.set_visible_devices([by_name[name] for name in gpus], "GPU")
    cpus = tf.config.list_physical_devices("CPU")
    logical_device = tf.config.LogicalDeviceConfiguration
    if cpus and not gpus:
        tf.config.set_logical_device_configuration(cpus[0], [logical_device()] * cpu)
    for name in gpus if wanted > 1 else []:
        share = _share(free.get(name.split(":")[1]), wanted)
        tf.config.experimental.set_memory_growth(by_name[name], False)  # TensorFlow takes a share at once, or grows; not both
        tf.config.set_logical_device_configuration(by_name[name], [logical_device(memory_limit=share)] * wanted)


def _names(tf: Any, usable: list[str], wanted: int) -> dict[str, str]:
    """Initialise the devices, and map each one's name to TensorFlow's logical name: it numbers the visible GPUs anew."""
    gpus = [name for name in usable if name.startswith("GPU")]
    logical = [inspection.name_of(device) for device in tf.config.list_logical_devices()]
    if wanted > 1 and gpus:
        return {name: name for name in logical if not name.startswith("TPU")}
    names = dict(zip(gpus, [name for name in logical if name.startswith("GPU")]))
    names.update((name, name) for name in logical if name.startswith("CPU"))
    return names


def _share(free: int | None, count: int) -> int:
    """MiB of each logical device of a GPU: its part of what is free, less what CUDA takes; 1 GiB where that is unknown."""
    if free is None:
        return 1024
    return max(256, (free // count - SHARE_BYTES) >> 20)


def _connect_tpu(stages: Stages, tf: Any) -> list[str]:
    """The TPU's devices; empty: no connection. It can block for minutes: the parent puts a limit on it.

    In a thread of its own, since connecting makes the TPU's host the default device of the thread that does it.
    """
    import threading

    from gpucheck.strategies import tpu

    answer: dict[str, Any] = {"connected": False, "error": "TensorFlow connected, and lists no TPU"}

    def connect() -> None:
        try:
            if count := tpu.connect(tf):
                answer.update(devices=count, connected=True, error=None)
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"[:1000]

    stages.begin("tpu")
    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    stages.end("tpu", answer)
    return [f"TPU:{index}" for index in range(answer.get("devices") or 0)]
