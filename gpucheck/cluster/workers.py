"""Multi-worker training: this run's workers are started and watched, and their accounts become one training run.

A worker that ends badly ends the others a few seconds later; one that stands still is named as soon as nobody goes on.
"""

import json
from typing import Any

import msgspec

from gpucheck.cluster import watch as _watch
from gpucheck.cluster.members import STRATEGY, Members, members
from gpucheck.cluster.reach import MUTE, converse
from gpucheck.cluster.watch import Limits, Worker
from gpucheck.host import Host
from gpucheck.model import TrainingRun, WorkerFault

QUIET_SECONDS = 30.0  # in which nobody goes on, and what the first step takes where one device trains alone, times a factor
QUIET_FACTOR = 10.0
IMPORT_SECONDS = 60.0  # for TensorFlow's import, or what it took before, times a factor
IMPORT_FACTOR = 6.0
LIMIT_SECONDS = 150.0
RESERVE_SECONDS = 3.0  # of the run's time, to end what is left


def train(host: Host, framework: dict[str, Any]) -> TrainingRun:
    """Start the workers, watch them, and put their accounts together: one run, failed if any worker failed.

    Args:
        host: the machine.
        framework: stages of the child that inspected TensorFlow: how long the import and a first step took, and Keras' backend.
    """
    backend = (framework.get("keras") or {}).get("backend")
    if backend != "tensorflow":
        return _skipped(cannot(backend))
    cluster = members(host)
    if isinstance(cluster, str):
        return _skipped(cluster)
    own = [cluster.names[start.place] for start in cluster.starts]
    if cluster.joined and own[0] in cluster.addresses and host.connect(*cluster.addresses[own[0]], timeout=1.0) is None:
        reason = "the port of its address is taken on this machine"
        return _run(cluster, (), (WorkerFault(worker=own[0], how="port taken", reason=reason),))
    limits = limits_of(host, framework, cluster.joined)
    workers = [
        Worker(
            cluster.names[start.place],
            host.child(
                "worker",
                settings(host, STRATEGY, start.tf_config, cluster.names[start.place], start.gpus),
                limit=host.remaining(),
            ),
        )
        for start in cluster.starts
    ]
    # TensorFlow's server listens on every address of its machine; the one by which others know it may not lead back here.
    asked = {name: ("127.0.0.1", parts[1]) if name in own else parts for name, parts in cluster.addresses.items()}
    watched = _watch.watch(workers, limits, lambda: _asked(converse(host, asked, 1.0), own if cluster.joined else []))
    faults = tuple(_watch.faults(workers, watched))
    return _run(cluster, workers, faults)


def _asked(answers: dict[str, str | None], own: list[str]) -> dict[str, str | None]:
    """Without a worker's own answer, unless it hangs: whether it listens yet tells nothing of why the cluster does not form."""
    return {task: said for task, said in answers.items() if task not in own or said == MUTE}


def settings(host: Host, strategy: str, tf_config: dict[str, Any], name: str, gpus: tuple[int, ...] | None) -> str:
    """What a worker process is told, as the JSON text of its argument."""
    asked = {"strategy": strategy, "tf_config": tf_config, "name": name, "gpus": gpus}
    return json.dumps({**asked, "log_device_placement": host.request.log_device_placement}, sort_keys=True)


def limits_of(host: Host, framework: dict[str, Any], joined: bool) -> Limits:
    """How long workers are waited for, from what one device alone took."""
    imported = (framework.get("import") or {}).get("import_seconds") or 0.0
    alone = [value for stage, value in framework.items() if stage.startswith("train one_device") and not value["compiled"]]
    first = [value.get("first_step_seconds") or 0.0 for value in alone if not value.get("trained_with")]
    left = max(0.0, host.remaining() - RESERVE_SECONDS)
    return Limits(
        whole=left if joined else min(left, LIMIT_SECONDS),
        quiet=QUIET_SECONDS + QUIET_FACTOR * max(first, default=0.0),
        imported=max(IMPORT_SECONDS, IMPORT_FACTOR * imported),
        joined=joined,
    )


def _skipped(reason: str) -> TrainingRun:
    return TrainingRun(strategy=STRATEGY, devices=(), replicas=0, precision="float32", status="skipped", reason=reason)


def cannot(backend: str | None) -> str:
    """Why workers cannot train with this Keras backend."""
    return f"Keras runs on {backend or 'no backend'} here; TensorFlow's strategies cannot train it"


def status(faults: tuple[WorkerFault, ...]) -> str:
    """The status of a run with these faults."""
    if faults and all(fault.how == "late" for fault in faults):
        return "timed_out"
    return "failed" if faults else "passed"


def _run(cluster: Members, workers: list[Worker] | tuple[()], faults: tuple[WorkerFault, ...]) -> TrainingRun:
    """The run as a whole. Figures are one worker's: they are the same on all, but for some microseconds."""
    account: dict[str, Any] = next((worker.stages["train"] for worker in workers if "train" in worker.stages), {})
    fitted: dict[str, Any] = next(
        (value for worker in workers if (value := worker.stages.get("fit")) and not _watch.lost(value["problem"])), {}
    )
    told = _told(cluster, workers)
    plain = {
        **{name: value for name, value in account.items() if name != "problem"},
        "strategy": STRATEGY,
        "devices": _devices(cluster, told),
        "workers": len(cluster.names),
        "replicas": account.get("replicas", len(cluster.names)),
        "precision": "float32",
        "status": status(faults),
        "reason": sentence(faults),
        "stage": faults[0].stage if faults else None,
        "cluster": cluster.source,
        "note": cluster.note,
        "fit_verified": fitted.get("verified"),
        "fit_problem": fitted.get("problem"),
        "worker_names": cluster.names,
        "worker_versions": [record.get("versions", {}) for record in told] if any(told) else [],
        "worker_faults": faults,
    }
    return msgspec.convert(plain, TrainingRun, from_attributes=True)


def _told(cluster: Members, workers: list[Worker] | tuple[()]) -> list[dict[str, Any]]:
    """What each worker of the cluster told of itself, in the cluster's order; empty where it told nothing."""
    found: dict[str, dict[str, Any]] = {}
    for worker in workers:
        if "versions" in worker.stages:
            found.setdefault(worker.name, {"versions": worker.stages["versions"]})
        found.update((record["name"], record) for record in worker.stages.get("meet") or ())
    return [found.get(name, {}) for name in cluster.names]


def _devices(cluster: Members, told: list[dict[str, Any]]) -> tuple[str, ...]:
    """What each worker trains on: as it told, else as it was told."""
    planned = {cluster.names[start.place]: start.gpus for start in cluster.starts}
    found: list[str] = []
    for name, record in zip(cluster.names, told, strict=True):
        gpus = planned.get(name)
        found += record.get("devices") or ([f"GPU:{place}" for place in gpus] or ["CPU:0"] if gpus is not None else [])
    return tuple(found)


def sentence(faults: tuple[WorkerFault, ...]) -> str | None:
    """'worker 1: killed by SIGKILL'; the stage is the run's own, unless they failed at different ones."""
    same: dict[str, list[str]] = {}
    for fault in faults:
        where = f" in stage {fault.stage}" if fault.stage != faults[0].stage else ""
        same.setdefault(f"{fault.reason}{where}", []).append(fault.worker)
    return "; ".join(f"{', '.join(names)}: {what}" for what, names in same.items()) or None
