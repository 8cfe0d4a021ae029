"""Training in several processes: start and watch this run's workers, and combine their results into one training run.

The workers are those of multi-worker training, or one process of this machine that is coordinator, workers and parameter server
at the same time. A worker that fails ends the others a few seconds later; one that stalls is reported as soon as none progresses.
"""

import json
from collections.abc import Sequence

from msgspec.structs import replace

from gpucheck.core.child.messages.frameworks import KerasImported, TensorFlowImported
from gpucheck.core.child.messages.training import Trained
from gpucheck.core.child.messages.workers import FitTried, LinksMeasured, VersionsRead, WorkerRecord, WorkersMet, WorkerTask
from gpucheck.core.cluster import watch
from gpucheck.core.cluster.members import HERE, STRATEGY, Members, members
from gpucheck.core.cluster.reach import NO_ANSWER, reach_grpc
from gpucheck.core.cluster.watch import Limits, Worker, lost
from gpucheck.core.host import Child, Host
from gpucheck.core.model import TrainingRun, WorkerFault, WorkerLink

PARAMETER_SERVER = "parameter_server"
SERVED_WORKERS = 2
SERVED_NOTE = f"{SERVED_WORKERS} workers and a parameter server in one process of this machine, on the CPU"

QUIET_SECONDS = 30.0  # without progress, plus a multiple of the first step's time on a single device
QUIET_FACTOR = 10.0
IMPORT_SECONDS = 60.0  # for TensorFlow's import, or a multiple of its earlier time
IMPORT_FACTOR = 6.0
LIMIT_SECONDS = 150.0
RESERVE_SECONDS = 3.0  # of the run's time, to end the remaining workers
MEASURED = ("status", "reason", "stage", "strategy", "devices", "cluster", "note", "workers", "worker_names", "worker_versions")


def train(host: Host, framework: Child, gpus: int) -> TrainingRun:
    """Start the workers, watch them, and combine their results: one run, failed if any worker failed.

    Args:
        host: the machine.
        framework: the child that trained on single devices.
        gpus: how many CUDA shows this process.
    """
    if (reason := _why_not(framework)) is not None:
        return _skipped(reason)
    cluster = members(host, gpus)
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
        workers, time_limits, lambda: _of_other_workers(reach_grpc(host, queried, 1.0), own if cluster.joined else [])
    )
    return _run(cluster, workers, tuple(watch.faults(workers, watched, leader=cluster.names[0])))


def train_with_server(host: Host, framework: Child) -> TrainingRun:
    """Start the process, watch it, and return its result as a training run; arguments as for ``train``."""
    run = TrainingRun(
        strategy=PARAMETER_SERVER,
        devices=("CPU:0",),
        replicas=SERVED_WORKERS,
        precision="float32",
        cluster=HERE,
        note=SERVED_NOTE,
        status="skipped",
    )
    if (reason := _why_not(framework)) is not None:
        return replace(run, reason=reason)
    addresses = [f"127.0.0.1:{host.free_port()}" for _ in range(SERVED_WORKERS + 1)]
    config = json.dumps({"cluster": {"worker": addresses[:SERVED_WORKERS], "ps": addresses[SERVED_WORKERS:]}})
    task = WorkerTask(PARAMETER_SERVER, config, "coordinator", (), host.request.log_device_placement)
    worker = Worker("coordinator", host.child(task, limit=host.remaining()))
    watched = watch.watch([worker], limits(host, framework, joined=False), dict)
    return _joined_result(run, [worker], tuple(watch.faults([worker], watched)))


def _why_not(framework: Child) -> str | None:
    """Return why workers cannot train with the Keras backend that the child found; None: they can."""
    keras = framework.message(KerasImported)
    backend = None if keras is None else keras.outcome.backend
    if backend == "tensorflow":
        return None
    return f"Keras runs on {backend or 'no backend'} here; TensorFlow's strategies cannot train it"


def limits(host: Host, framework: Child, joined: bool) -> Limits:
    """Return how long to wait for workers, from the times of the import and of single devices in that child."""
    imported = framework.message(TensorFlowImported)
    first = [
        trained.run.first_step_seconds or 0.0
        for trained in framework.messages(Trained).values()
        if trained.run.strategy == "one_device" and not trained.run.compiled and not trained.run.trained_with
    ]
    left = max(0.0, host.remaining() - RESERVE_SECONDS)
    seconds = imported.outcome.import_seconds if imported else None
    return Limits(
        total=left if joined else min(left, LIMIT_SECONDS),
        quiet=QUIET_SECONDS + QUIET_FACTOR * max(first, default=0.0),
        imported=max(IMPORT_SECONDS, IMPORT_FACTOR * (seconds or 0.0)),
        joined=joined,
    )


def _of_other_workers(answers: dict[str, str | None], own: list[str]) -> dict[str, str | None]:
    """Remove this run's own worker unless it hangs, because whether it listens does not explain why the cluster does not form."""
    return {task: answer for task, answer in answers.items() if task not in own or answer == NO_ANSWER}


def _skipped(reason: str) -> TrainingRun:
    return TrainingRun(strategy=STRATEGY, devices=(), replicas=0, precision="float32", status="skipped", reason=reason)


def _run(cluster: Members, workers: Sequence[Worker], faults: tuple[WorkerFault, ...]) -> TrainingRun:
    """Combine the workers' results into one run."""
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
    return _joined_result(run, workers, faults)


def _records(cluster: Members, workers: Sequence[Worker]) -> list[WorkerRecord]:
    """Return each worker's record, in the cluster's order; empty if it sent none."""
    records: dict[str, WorkerRecord] = {}
    for worker in workers:
        read, met = worker.child.message(VersionsRead), worker.child.message(WorkersMet)
        if read is not None:
            records.setdefault(worker.name, WorkerRecord(worker.name, read.versions))
        records.update((record.name, record) for record in (met.workers if met else ()))
    return [records.get(name, WorkerRecord(name)) for name in cluster.names]


def _devices(cluster: Members, records: list[WorkerRecord]) -> tuple[str, ...]:
    """Return each worker's devices: as reported, else as planned."""
    planned = {cluster.names[start.place]: start.gpus for start in cluster.starts}
    devices: list[str] = []
    for record in records:
        gpus = planned.get(record.name)
        devices += record.devices or ([f"GPU:{place}" for place in gpus] or ["CPU:0"] if gpus is not None else [])
    return tuple(devices)


def _joined_result(run: TrainingRun, workers: Sequence[Worker], faults: tuple[WorkerFault, ...]) -> TrainingRun:
    """Add the result to the run. The figures are those of one worker, because they differ only by some microseconds.

    Args:
        run: the plan: strategy, devices, workers.
        workers: those that this run started.
        faults: the faults of the workers responsible for a failure.
    """
    trained = [result.run for worker in workers if (result := worker.child.message(Trained)) is not None]
    if trained:
        run = replace(trained[0], **{name: getattr(run, name) for name in MEASURED})
    tried = (fit for worker in workers if (fit := worker.child.message(FitTried)) is not None and not lost(fit.problem))
    fit = next(tried, None)
    return replace(
        run,
        status=_status(faults),
        reason=_sentence(faults),
        stage=faults[0].stage if faults else None,
        fit_verified=fit.verified if fit else None,
        fit_problem=fit.problem if fit else None,
        worker_faults=faults,
        worker_links=_links(workers),
    )


def _links(workers: Sequence[Worker]) -> tuple[WorkerLink, ...]:
    """Return the link of each pair once, even if both are workers of this run."""
    measured = (message for worker in workers if (message := worker.child.message(LinksMeasured)))
    links = {link.workers: link for message in measured for link in message.links}
    return tuple(links.values())


def _status(faults: tuple[WorkerFault, ...]) -> str:
    """Return the status of a run with these faults."""
    if faults and all(fault.how == "late" for fault in faults):
        return "timed_out"
    return "failed" if faults else "passed"


def _sentence(faults: tuple[WorkerFault, ...]) -> str | None:
    """Describe the faults: 'worker 1: killed by SIGKILL'; with the stage if it differs from the run's."""
    same: dict[str, list[str]] = {}
    for fault in faults:
        where = f" in stage {fault.stage}" if fault.stage != faults[0].stage else ""
        same.setdefault(f"{fault.reason}{where}", []).append(fault.worker)
    return "; ".join(f"{', '.join(names)}: {what}" for what, names in same.items()) or None
