"""Multi-worker training: start and watch this run's workers, and combine their results into one training run.

A worker that fails ends the others a few seconds later; one that stalls is reported as soon as none progresses.
"""

from collections.abc import Sequence

from gpucheck.core.child.messages.workers import VersionsRead, WorkerRecord, WorkersMet, WorkerTask
from gpucheck.core.cluster import watch
from gpucheck.core.cluster.members import STRATEGY as STRATEGY
from gpucheck.core.cluster.members import Members, members
from gpucheck.core.cluster.reach import NO_ANSWER, speak_grpc
from gpucheck.core.cluster.result import joined_result
from gpucheck.core.cluster.timing import limits, why_not
from gpucheck.core.cluster.watch import Worker
from gpucheck.core.host import Child, Host
from gpucheck.core.model import TrainingRun, WorkerFault


def train(host: Host, framework: Child) -> TrainingRun:
    """Start the workers, watch them, and combine their results: one run, failed if any worker failed.

    Args:
        host: the machine.
        framework: the child that trained on single devices.
    """
    if (reason := why_not(framework)) is not None:
        return _skipped(reason)
    cluster = members(host)
    if isinstance(cluster, str):
        return _skipped(cluster)
    own = [cluster.names[start.place] for start in cluster.starts]
    if cluster.joined and own[0] in cluster.addresses and host.connect(*cluster.addresses[own[0]], timeout=1.0) is None:
        reason = "the port of its address is taken on this machine"
        return _run(cluster, (), (WorkerFault(worker=own[0], how="port taken", reason=reason),))
    time_limits = limits(host, framework, cluster.joined)
    workers = []
    for start, name in zip(cluster.starts, own, strict=True):
        task = WorkerTask(STRATEGY, start.tf_config, name, start.gpus, host.request.log_device_placement)
        workers.append(Worker(name, host.child(task, limit=host.remaining())))
    # TensorFlow's server listens on every address of its machine; its public address may not be reachable from here.
    queried = {name: ("127.0.0.1", parts[1]) if name in own else parts for name, parts in cluster.addresses.items()}
    watched = watch.watch(
        workers, time_limits, lambda: _of_other_workers(speak_grpc(host, queried, 1.0), own if cluster.joined else [])
    )
    return _run(cluster, workers, tuple(watch.faults(workers, watched, leader=cluster.names[0])))


def _of_other_workers(answers: dict[str, str | None], own: list[str]) -> dict[str, str | None]:
    """Remove this run's own worker unless it hangs: whether it listens does not explain why the cluster does not form."""
    return {task: answer for task, answer in answers.items() if task not in own or answer == NO_ANSWER}


def _skipped(reason: str) -> TrainingRun:
    return TrainingRun(strategy=STRATEGY, devices=(), replicas=0, precision="float32", status="skipped", reason=reason)


def _run(cluster: Members, workers: Sequence[Worker], faults: tuple[WorkerFault, ...]) -> TrainingRun:
    """The run as a whole."""
    records = _records(cluster, workers)
    run = TrainingRun(
        strategy=STRATEGY,
        devices=_devices(cluster, records),
        workers=len(cluster.names),
        replicas=len(cluster.names),
        precision="float32",
        status="skipped",
        cluster=cluster.source,
        note=cluster.note,
        worker_names=cluster.names,
        worker_versions=tuple(record.versions for record in records) if any(record.versions for record in records) else (),
    )
    return joined_result(run, workers, faults)


def _records(cluster: Members, workers: Sequence[Worker]) -> list[WorkerRecord]:
    """Each worker's record, in the cluster's order; empty if it sent none."""
    records: dict[str, WorkerRecord] = {}
    for worker in workers:
        read, met = worker.child.message(VersionsRead), worker.child.message(WorkersMet)
        if read is not None:
            records.setdefault(worker.name, WorkerRecord(worker.name, read.versions))
        records.update((record.name, record) for record in (met.workers if met else ()))
    return [records.get(name, WorkerRecord(name)) for name in cluster.names]


def _devices(cluster: Members, records: list[WorkerRecord]) -> tuple[str, ...]:
    """Each worker's devices: as reported, else as planned."""
    planned = {cluster.names[start.place]: start.gpus for start in cluster.starts}
    devices: list[str] = []
    for record in records:
        gpus = planned.get(record.name)
        devices += record.devices or ([f"GPU:{place}" for place in gpus] or ["CPU:0"] if gpus is not None else [])
    return tuple(devices)
