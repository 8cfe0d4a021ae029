"""A process of a cluster: one worker of the multi-worker job, or the coordinator of workers and a parameter server.

Stages, in order: import, keras, versions, connect, meet (of workers), train (in it: build, data of step 1, step 1, ..., verify),
fit; or failed, where it gave up by itself.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from typing import Any

from gpucheck.child import inspection
from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import coordinator, loop, network, proof
from gpucheck.strategies import multi_worker_mirrored, parameter_server

RECORD_BYTES = 1 << 16  # of what a worker tells the others at a time
FIT_STEPS = 2
# Lines of TensorFlow's errors that say where in the graph something happened, and not what.
PLACES = re.compile(r"(?:Graph execution error|Detected at node|File |The error could be from|\[\[\{\{)")


def run(stages: Stages, args: list[str]) -> None:
    """Train as one worker, or as the coordinator.

    Args:
        stages: the report to the parent.
        args: one JSON object: ``strategy``, ``tf_config``, ``name`` ("worker 0"), ``gpus`` (positions among the visible GPUs,
            empty for the CPU, None for all) and ``log_device_placement`` (bool).
    """
    import faulthandler

    faulthandler.enable()
    settings = json.loads(args[0])
    os.environ["TF_CONFIG"] = json.dumps(settings["tf_config"])
    tf = inspection.import_tensorflow(stages)
    keras = inspection.import_keras(stages, tf)[0] if tf is not None else None
    if tf is None or keras is None:
        return
    if settings["log_device_placement"]:
        tf.debugging.set_log_device_placement(True)
    stages.begin("versions")
    own = {"name": settings["name"], "versions": versions(tf, keras)}
    stages.end("versions", own["versions"])
    progress = _Progress(stages)
    try:
        own["devices"] = _choose(tf, settings["gpus"])
        if settings["strategy"] == "parameter_server":
            _coordinate(tf, keras, len(settings["tf_config"]["cluster"]["worker"]), progress)
        else:
            _work(tf, keras, own, progress)
    except Exception as error:
        import traceback

        traceback.print_exc()
        stages.end("failed", {"stage": progress.step or progress.stage, "problem": said(error)})


class _Progress:
    """The stages of the work, of which "train" has steps."""

    def __init__(self, stages: Stages) -> None:
        self.stages, self.stage, self.step = stages, "connect", ""

    def begin(self, stage: str) -> None:
        self.stage, self.step = stage, ""
        self.stages.begin(stage)

    def begin_step(self, step: str) -> None:
        """A step inside the stage: the one before it is over, which the parent counts."""
        if self.step:
            self.stages.end(self.step)
        self.step = step
        self.stages.begin(step)

    def end(self, value: Any) -> None:
        if self.step:
            self.stages.end(self.step)
        self.stages.end(self.stage, value)
        self.step = ""


def _work(tf: Any, keras: Any, own: dict[str, Any], progress: _Progress) -> None:
    progress.begin("connect")
    strategy = multi_worker_mirrored.build(tf, ())
    progress.end({"replicas": strategy.num_replicas_in_sync})
    progress.begin("meet")
    progress.end(exchange(tf, strategy, own))
    progress.begin("train")
    account, model = loop.train(tf, keras, strategy, progress.begin_step)
    kept = {"digest": account.pop("digest"), "samples": account.pop("samples")}
    account.update(_compared(exchange(tf, strategy, kept), account))
    progress.end({**account, "problem": proof.problem(account) or _unsharded(account)})
    progress.begin("fit")
    progress.end(_fit(tf, model, account["global_batch_size"]))


def _coordinate(tf: Any, keras: Any, workers: int, progress: _Progress) -> None:
    progress.begin("connect")
    strategy = parameter_server.build(tf, ())
    progress.end({})
    progress.begin("train")
    account, model = coordinator.train(tf, keras, strategy, workers, progress.begin_step)
    progress.end({**account, "problem": proof.problem(account)})
    progress.begin("fit")
    progress.end(_fit(tf, model, account["global_batch_size"]))


def _choose(tf: Any, positions: list[int] | None) -> list[str]:
    """Make those GPUs the only visible ones; returns the names of the devices to be trained on."""
    gpus = tf.config.list_physical_devices("GPU")
    chosen = gpus if positions is None else [gpus[place] for place in positions if place < len(gpus)]
    tf.config.set_visible_devices(chosen, "GPU")
    for gpu in chosen:
        tf.config.experimental.set_memory_growth(gpu, True)
    return [inspection.name_of(gpu) for gpu in chosen] or ["CPU:0"]


def exchange(tf: Any, strategy: Any, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Every worker's record, in the cluster's order, over the very paths on which gradients are summed.

    It travels as one float32 per character: the one type that every implementation of the collective operations moves.

    Raises:
        ValueError: the record is too long.
    """
    text = json.dumps(record, separators=(",", ":")).encode("ascii")
    if len(text) > RECORD_BYTES:
        raise ValueError(f"a worker's record has {len(text)} bytes, more than {RECORD_BYTES}")
    own = tf.constant([[float(character) for character in text.ljust(RECORD_BYTES)]], tf.float32)

    def gather(value: Any) -> Any:
        return tf.distribute.get_replica_context().all_gather(value, axis=0)

    gathered = tf.function(lambda: strategy.run(gather, args=(own,)))()
    rows = strategy.experimental_local_results(gathered)[0].numpy()
    replicas = len(strategy.extended.worker_devices)  # each of a worker's replicas sent the same
    return [json.loads(bytes(int(character) for character in row)) for row in rows[::replicas]]


def _compared(records: list[dict[str, Any]], account: dict[str, Any]) -> dict[str, Any]:
    """Whether all workers ended with the same weights, and whether each of them was fed samples that no other got."""
    samples = [sample for record in records for sample in record["samples"]]
    whole = network.BATCHES * account["global_batch_size"]
    equal = len({record["digest"] for record in records}) == 1 and account["replicas_equal"] is not False
    return {"replicas_equal": equal, "sharding": "DATA", "shards_verified": len(samples) == len(set(samples)) == whole}


def _unsharded(account: dict[str, Any]) -> str | None:
    return None if account["shards_verified"] else "the workers were not each fed a part of their own of the data"


def _fit(tf: Any, model: Any, global_batch: int) -> dict[str, Any]:
    """Whether ``Model.fit`` trains under this strategy: Keras 2 does, Keras 3 does not."""
    try:
        model.fit(network.dataset(tf, global_batch), steps_per_epoch=FIT_STEPS, epochs=1, verbose=0, shuffle=False)
    except Exception as error:
        return {"verified": False, "problem": said(error)}
    return {"verified": True, "problem": None}


def said(error: BaseException) -> str:
    """What an exception says, with its type, in one line: without the places in the graph, and without the values of tensors."""
    lines = [line.strip() for line in str(error).splitlines()]
    words = " ".join(line for line in lines if line and not PLACES.match(line))
    words = re.sub(r"PerReplica:\{.*\}", "PerReplica:{...}", re.sub(r"\{\{[^{}]*\}\} ?", "", words))
    return f"{type(error).__name__}: {words[:600]}"


def versions(tf: Any, keras: Any) -> dict[str, str]:
    """What should be the same on every worker; what is not there or can't be read is left out."""
    build = inspection.build(tf)
    found = {
        "python": ".".join(map(str, sys.version_info[:3])),
        "tensorflow": str(tf.__version__),
        "keras": _keras_version(keras),
        "cuda": build["cuda_version"],
        "cudnn": _installed("nvidia-cudnn-cu") or build["cudnn_version"],
        "nccl": _installed("nvidia-nccl-cu"),
        "driver": _driver(),
    }
    return {name: str(version) for name, version in found.items() if version}


def _keras_version(keras: Any) -> str:
    """Version of the module that trains; TensorFlow's alias of Keras 2 does not tell it."""
    if not hasattr(keras, "__version__"):
        keras = importlib.import_module("keras")
    return str(keras.__version__)


def _installed(name: str) -> str | None:
    """Version of an installed wheel of NVIDIA's, for whichever CUDA: a wheel's library goes before the system's."""
    from importlib import metadata

    for cuda in ("13", "12", "11"):
        try:
            return metadata.version(name + cuda)
        except metadata.PackageNotFoundError:
            continue
    return None


def _driver(path: str = "/proc/driver/nvidia/version") -> str | None:
    """Version of the kernel's NVIDIA driver."""
    try:
        with open(path) as file:
            match = re.search(r"Kernel Module.*?\s(\d+\.[\d.]+)", file.read())
    except OSError:
        return None
    return match.group(1) if match else None
