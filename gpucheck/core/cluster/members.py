"""Which workers train together, and which of them this run starts: two on this machine, or its own one of a real cluster.

A real cluster is joined only where ``--strategy multi_worker_mirrored`` asks for it: whoever joins listens on its address and
waits for the others, which would stand in the way of the job that the address is meant for, and would wait in vain where the
others were not told to join. Everybody else trains two workers on this machine.
"""

import json
from typing import NamedTuple

from gpucheck.core.cluster import slurm
from gpucheck.core.cluster.ranks import Ranks, ranks
from gpucheck.core.cluster.tf_config import TRAINING_JOBS, Parsed, split
from gpucheck.core.host import Host
from gpucheck.core.probes import cuda

STRATEGY = "multi_worker_mirrored"
LOCAL_WORKERS = 2
HERE = "this machine"


class Start(NamedTuple):
    """One worker that this run starts."""

    place: int  # among the cluster's workers
    tf_config: str  # the variable TF_CONFIG
    gpus: tuple[int, ...] | None  # positions among the visible GPUs; empty: it trains on the CPU; None: all of them


class Members(NamedTuple):
    """The workers of a cluster."""

    source: str  # where they are named: "this machine", "TF_CONFIG", "Slurm", "mpirun", "torchrun", "Kubernetes"
    names: tuple[str, ...]  # "chief 0", "worker 0", in the cluster's order
    addresses: dict[str, tuple[str, int]]  # host and port, by name
    starts: tuple[Start, ...]
    note: str | None = None  # why these and not others

    @property
    def joined(self) -> bool:
        """Whether other workers are started by others."""
        return self.source != HERE


def members(host: Host) -> Members | str:
    """The workers to train with; or why none can be."""
    asked = STRATEGY in host.request.strategies
    text = host.env.get("TF_CONFIG", "").strip()
    if text:
        return _configured(host, Parsed(text), asked)
    if (together := ranks(host.env)) is not None:  # first: under mpirun, a step of Slurm is mpirun's own
        return _ranked(host, together, asked)
    if host.env.get("SLURM_JOB_ID"):
        return _scheduled(host, asked)
    if host.env.get("KUBERNETES_SERVICE_HOST"):
        return _orchestrated(host, asked)
    return _local(host)


def _configured(host: Host, parsed: Parsed, asked: bool) -> Members | str:
    names = tuple(f"{job} {index}" for job in TRAINING_JOBS for index in sorted(parsed.jobs.get(job, ())))
    if not asked:
        return _local(host, _invitation(f"the {len(names)} workers of TF_CONFIG") if len(names) > 1 else None)
    if parsed.problems:
        return f"TF_CONFIG can't be used: {parsed.problems[0]}"
    if parsed.jobs.get("ps"):
        return "TF_CONFIG names parameter servers: their workers train with ParameterServerStrategy, not with this strategy"
    if parsed.type == "evaluator":
        return "this process is TF_CONFIG's evaluator, which takes no part in training"
    if len(names) < 2 or parsed.task is None or parsed.config is None:
        return _local(host)
    addresses = {task: parts for task, parts in parsed.addresses().items() if task in names}
    return Members("TF_CONFIG", names, addresses, (Start(names.index(parsed.task), json.dumps(parsed.config), None),))


def _ranked(host: Host, together: Ranks, asked: bool) -> Members | str:
    whom = f"the {together.size} ranks of {together.launcher}"
    if not asked:
        return _local(host, _invitation(whom) if together.addresses else None)
    if not together.addresses:
        return (
            f"{whom} run on several machines, and {together.launcher} names none of them, so they can't find each other: set"
            " TF_CONFIG for each of them, or start them with srun"
        )
    each = gpu_count(host) // together.local_size
    gpus = tuple(range(together.local_rank * each, (together.local_rank + 1) * each)) if each else None
    return _joined(together.launcher, together.addresses, together.rank, gpus)


def _scheduled(host: Host, asked: bool) -> Members | str:
    try:
        step = slurm.step(host.env)
    except slurm.Unusable as error:
        return f"the cluster can't be read from Slurm: {error}" if asked else _local(host)
    if step is None:
        return _local(host, "this is no step of the Slurm job: under srun, its tasks train together" if asked else None)
    count = len(step.addresses)
    if count < 2 or not asked:
        return _local(host, _invitation(f"the {count} tasks of this Slurm step") if count > 1 else None)
    return _joined("Slurm", step.addresses, step.number, _own_gpus(host, step))


def _orchestrated(host: Host, asked: bool) -> Members | str:
    """In a pod. Kubernetes tells it nothing of the others: the API server is asked, and only where the user asked for this."""
    indexed = bool(host.env.get("JOB_COMPLETION_INDEX"))
    if not asked:
        return _local(host, _invitation("the pods of this Job") if indexed else None)
    # its structs take 2 ms, which no other run shall pay
    from gpucheck.core.cluster import kubernetes
    from gpucheck.core.cluster.kubernetes_api import Unknown

    try:
        pods = kubernetes.pods(host)
    except kubernetes.Unusable as error:
        return f"the pods of this Kubernetes cluster can't train together: {error}"
    except kubernetes.Alone as error:
        return _local(host, f"two workers on this machine: {error}")
    except Unknown as error:
        if indexed:  # it has others, or nobody would have numbered it: two workers here would prove nothing about them
            return f"the other pods of this Job can't be found: {error}; gpucheck --full trains two workers on this machine"
        return _local(host, f"two workers on this machine; whether other pods train with this one is not known: {error}")
    return _joined("Kubernetes", pods.addresses, pods.number, None)


def _joined(source: str, addresses: tuple[str, ...], number: int, gpus: tuple[int, ...] | None) -> Members:
    """Workers that others start, but for one."""
    names = tuple(f"worker {index}" for index in range(len(addresses)))
    addresses_by_name = {name: parts for name, address in zip(names, addresses, strict=True) if (parts := split(address))}
    own = {"cluster": {"worker": list(addresses)}, "task": {"type": "worker", "index": number}}
    return Members(source, names, addresses_by_name, (Start(number, json.dumps(own), gpus),))


def _own_gpus(host: Host, step: slurm.Step) -> tuple[int, ...] | None:
    """The resolver divides a node's GPUs evenly among its workers; where Slurm has done so, all that are visible are its own."""
    each = gpu_count(host) // step.places
    return None if step.bound or step.places < 2 or each == 0 else tuple(range(step.place * each, (step.place + 1) * each))


def _local(host: Host, note: str | None = None) -> Members:
    ports = [host.free_port() for _ in range(LOCAL_WORKERS)]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    names = tuple(f"worker {index}" for index in range(LOCAL_WORKERS))
    enough = gpu_count(host) >= LOCAL_WORKERS  # one GPU each, or none: two workers can't share one
    starts = tuple(
        Start(index, json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}), (index,) if enough else ())
        for index in range(LOCAL_WORKERS)
    )
    addresses = {name: ("127.0.0.1", port) for name, port in zip(names, ports, strict=True)}
    return Members(HERE, names, addresses, starts, note)


def _invitation(whom: str) -> str:
    return f"two workers on this machine; {whom} train together where each runs gpucheck --strategy {STRATEGY}"


def gpu_count(host: Host) -> int:
    """GPUs that CUDA offers this process."""
    try:
        return cuda.read(host).device_count or 0
    except RuntimeError:  # a driver that does not answer is that probe's to tell
        return 0
