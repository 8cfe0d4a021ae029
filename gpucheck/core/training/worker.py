"""A process of a cluster: one worker of the multi-worker job, or the coordinator of workers and a parameter server."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gpucheck.core.child.messages.struct import to_builtins
from gpucheck.core.child.messages.training import Job, Trained, TrainingRun, WorkerLink
from gpucheck.core.child.messages.workers import (
    ClusterConnected,
    FitTried,
    LinksMeasured,
    VersionsRead,
    WorkerFailed,
    WorkerRecord,
    WorkersMet,
    WorkerTask,
)
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training import inspection, strategies
from gpucheck.core.training.smoke import loop, network, proof
from gpucheck.core.training.smoke.fit import untrained_result

RECORD_BYTES = 1 << 16  # maximum size of a record that workers exchange
FIT_STEPS = 2
LINK_ROUNDS = 8  # partners of each worker at most: the time does not grow with a large cluster
LINK_REPEATS = 3  # the fastest one is used: other load can only slow a repeat down
ELEMENTS = 1 << 20  # float32
WARM_ELEMENTS = 1 << 10  # a pair's first all-reduce connects the two, and waits for the later one
LIMIT_SECONDS = 15.0  # for one sum
FIRST_KEY = 1 << 20  # of groups, beyond those that TensorFlow's own strategies number
# Lines of TensorFlow's errors that locate an error in the graph, and do not describe it.
PLACES = re.compile(r"(?:Graph execution error|Detected at node|File |The error could be from|\[\[\{\{)")


def run(reporter: Reporter, task: WorkerTask) -> None:
    """Train as one worker, or as the coordinator."""
    os.environ["TF_CONFIG"] = task.tf_config
    tf = inspection.import_tensorflow(reporter)
    keras = inspection.import_keras(reporter, tf)[0] if tf is not None else None
    if tf is None or keras is None:
        return
    if task.log_device_placement:
        tf.debugging.set_log_device_placement(True)
    reporter.begin(VersionsRead)
    own = WorkerRecord(task.name, versions(tf, keras))
    reporter.end(VersionsRead(own.versions))
    reporter.begin(ClusterConnected)
    try:
        own.devices = tuple(_choose(tf, task.gpus))
        if task.strategy == "parameter_server":
            _coordinate(tf, keras, len(json.loads(task.tf_config)["cluster"]["worker"]), reporter)
        else:
            _work(tf, keras, own, reporter)
    except Exception as error:
        reporter.end(WorkerFailed(exception_text(error)))
        raise


def _work(tf: Any, keras: Any, own: WorkerRecord, reporter: Reporter) -> None:
    strategy = strategies.build("multi_worker_mirrored", tf, ())
    reporter.end(ClusterConnected(strategy.num_replicas_in_sync))
    reporter.begin(WorkersMet)
    met = tuple(WorkerRecord(**record) for record in exchange(tf, strategy, to_builtins(own)))
    reporter.end(WorkersMet(met))
    reporter.begin(Trained)
    result = untrained_result(Job("multi_worker_mirrored", own.devices), "strategy.run")
    model, shard = loop.train(tf, keras, strategy, result, partial(reporter.begin, Trained, ""))
    _compare(result, [loop.Shard(**record) for record in exchange(tf, strategy, shard._asdict())])
    proof.judge(result)
    if result.reason is None and not result.shards_verified:
        result.status, result.stage = "failed", "verify"
        result.reason = "the workers did not each get a distinct part of the data"
    reporter.end(Trained(result))
    reporter.begin(LinksMeasured)
    reporter.end(_links(tf, [worker.name for worker in met], own.name, partial(reporter.begin, LinksMeasured, "")))
    reporter.begin(FitTried)
    reporter.end(_fit(tf, model, result.global_batch_size or 0))


def _coordinate(tf: Any, keras: Any, workers: int, reporter: Reporter) -> None:
    strategy = strategies.build("parameter_server", tf, ())
    reporter.end(ClusterConnected())
    reporter.begin(Trained)
    result = untrained_result(Job("parameter_server", ("CPU:0",)), "ClusterCoordinator.schedule")
    result.replicas = workers
    model = loop.train_scheduled(tf, keras, strategy, result, partial(reporter.begin, Trained, ""))
    proof.judge(result)
    reporter.end(Trained(result))
    reporter.begin(FitTried)
    reporter.end(_fit(tf, model, result.global_batch_size or 0))


def _choose(tf: Any, positions: tuple[int, ...] | None) -> list[str]:
    """Make those GPUs the only visible ones; return the names of the devices to train on."""
    gpus = tf.config.list_physical_devices("GPU")
    chosen = gpus if positions is None else [gpus[place] for place in positions if place < len(gpus)]
    tf.config.set_visible_devices(chosen, "GPU")
    for gpu in chosen:
        tf.config.experimental.set_memory_growth(gpu, True)
    return [inspection.name_of(gpu) for gpu in chosen] or ["CPU:0"]


def exchange(tf: Any, strategy: Any, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Gather every worker's record, in the cluster's order, over the network paths that sum gradients.

    Records are sent as one float32 per character: the only type that all implementations of collective operations support.

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


def _links(tf: Any, names: list[str], own: str, begin: Callable[[str], None]) -> LinksMeasured:
    """Measure the links after training; a failure here does not fail the job."""
    try:
        return LinksMeasured(measure_links(tf, names, names.index(own), begin))
    except Exception as error:
        return LinksMeasured(problem=exception_text(error))


def pairs(count: int) -> Iterator[list[tuple[int, int]]]:
    """Yield rounds of pairs in which each worker has a different partner every round: the circle method of tournaments.

    Args:
        count: number of workers.
    """
    places = count + count % 2
    for turn in range(min(places - 1, LINK_ROUNDS)):
        moving = [1 + (place + turn) % (places - 1) for place in range(places - 1)]
        order = [0, *moving]
        met = [sorted((order[place], order[places - 1 - place])) for place in range(places // 2)]
        yield [(low, high) for low, high in met if high < count]


def measure_links(tf: Any, names: list[str], own: int, begin: Callable[[str], None]) -> tuple[WorkerLink, ...]:
    """Measure this worker's links, one pair of workers after the other; return them in order of measurement.

    An all-reduce over all workers is as slow as the slowest one, and does not show which one it is. Pairs do.

    Args:
        tf: TensorFlow, with the cluster connected.
        names: the names of all workers, in the cluster's order.
        own: this worker's index in ``names``.
        begin: called before each pair that includes this worker.
    """
    links = []
    for low, high in (pair for met in pairs(len(names)) for pair in met if own in pair):
        other = high if own == low else low
        begin(f"link to {names[other]}")
        group = FIRST_KEY + low * len(names) + high
        _sum_of_pair(tf, WARM_ELEMENTS, group, 0)
        seconds = min(_sum_of_pair(tf, ELEMENTS, group, number) for number in range(1, LINK_REPEATS + 1))
        links.append(WorkerLink(workers=(names[low], names[high]), sum_bytes=4 * ELEMENTS, seconds=seconds))
    return tuple(links)


def _sum_of_pair(tf: Any, elements: int, group: int, number: int) -> float:
    """Return the seconds of an all-reduce of two workers, in host memory, so that links of different machines are comparable.

    Source: tf.raw_ops.CollectiveReduceV2, whose group may be any of the cluster's workers.
    """
    with tf.device("CPU:0"):
        value = tf.ones([elements], tf.float32)
        began = time.perf_counter()
        whole = tf.raw_ops.CollectiveReduceV2(
            input=value,
            group_size=2,
            group_key=group,
            instance_key=FIRST_KEY + number,
            ordering_token=[],
            merge_op="Add",
            final_op="Id",
            communication_hint="ring",
            timeout_seconds=LIMIT_SECONDS,
        )
        if float(whole[-1]) != 2.0:
            raise ValueError("the all-reduce returned a wrong sum")
        return time.perf_counter() - began


def _compare(result: TrainingRun, shards: list[loop.Shard]) -> None:
    """Record whether all workers ended with the same weights, and whether each got distinct samples."""
    samples = [sample for shard in shards for sample in shard.samples]
    whole = network.BATCHES * (result.global_batch_size or 0)
    result.replicas_equal = len({shard.digest for shard in shards}) == 1 and result.replicas_equal is not False
    result.sharding, result.shards_verified = "DATA", len(samples) == len(set(samples)) == whole


def _fit(tf: Any, model: Any, global_batch: int) -> FitTried:
    """Test whether ``Model.fit`` trains under this strategy: it does in Keras 2, not in Keras 3."""
    try:
        model.fit(network.dataset(tf, global_batch), steps_per_epoch=FIT_STEPS, epochs=1, verbose=0, shuffle=False)
    except Exception as error:
        return FitTried(False, exception_text(error))
    return FitTried(True)


def exception_text(error: BaseException) -> str:
    """Return an exception's type and message on one line, without graph locations and tensor values."""
    lines = [line.strip() for line in str(error).splitlines()]
    words = " ".join(line for line in lines if line and not PLACES.match(line))
    words = re.sub(r"PerReplica:\{.*\}", "PerReplica:{...}", re.sub(r"\{\{[^{}]*\}\} ?", "", words))
    return f"{type(error).__name__}: {words[:600]}"


def versions(tf: Any, keras: Any) -> dict[str, str]:
    """Return the versions that should be equal on every worker; missing or unreadable ones are omitted."""
    build = inspection.build(tf)
    cuda = str(build.cuda_version or "").partition(".")[0]
    versions_by_name = {  # the libraries of installed wheels take precedence over the system's
        "python": ".".join(map(str, sys.version_info[:3])),
        "tensorflow": str(tf.__version__),
        "keras": _keras_version(keras),
        "cuda": build.cuda_version,
        "cudnn": inspection.installed_version(f"nvidia-cudnn-cu{cuda}") or build.cudnn_version,
        "nccl": inspection.installed_version(f"nvidia-nccl-cu{cuda}"),
        "driver": driver_version(),
    }
    return {name: str(version) for name, version in versions_by_name.items() if version}


def _keras_version(keras: Any) -> str:
    """Return the version of the module that trains; TensorFlow's alias of Keras 2 has none."""
    if not hasattr(keras, "__version__"):
        keras = importlib.import_module("keras")
    return str(keras.__version__)


def driver_version(path: str = "/proc/driver/nvidia/version") -> str | None:
    """Return the version of the kernel's NVIDIA driver."""
    try:
        with open(path) as file:
            match = re.search(r"Kernel Module.*?\s(\d+\.[\d.]+)", file.read())
    except OSError:
        return None
    return match.group(1) if match else None
