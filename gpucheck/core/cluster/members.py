"""The workers that train together, and those that this run starts: two on this machine, or its own worker of a real cluster.

A run joins a real cluster only with ``--strategy multi_worker_mirrored``: a worker that joins listens on its address, which would
block the job that the address is meant for, and waits for the others, which may not have joined. Otherwise a run trains two
workers on this machine.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from gpucheck.core.cluster import slurm
from gpucheck.core.cluster.ranks import Ranks, ranks
from gpucheck.core.cluster.tf_config import TRAINING_JOBS, Parsed, split
from gpucheck.core.host import Host

STRATEGY = "multi_worker_mirrored"
LOCAL_WORKERS = 2
HERE = "this machine"


class Start(NamedTuple):
    """One worker that this run starts."""

    place: int  # index among the cluster's workers
    tf_config: str  # the variable TF_CONFIG
    gpus: tuple[int, ...] | None  # indices into the visible GPUs; empty: train on the CPU; None: all of them


class Members(NamedTuple):
    """The workers of a cluster."""

    source: str  # what defines them: "this machine", "TF_CONFIG", "Slurm", "mpirun", "torchrun", "Kubernetes"
    names: tuple[str, ...]  # "chief 0", "worker 0", in the cluster's order
    addresses: dict[str, tuple[str, int]]  # host and port, by name
    starts: tuple[Start, ...]
    note: str | None = None  # why these and not others

    @property
    def joined(self) -> bool:
        """Whether other processes start the other workers."""
        return self.source != HERE


def members(host: Host, gpus: int) -> Members | str:
    """Return the workers to train with, or why there are none; ``gpus`` is how many CUDA shows this process."""
    requested = STRATEGY in host.request.strategies
    text = host.env.get("TF_CONFIG", "").strip()
    if text:
        return _configured(host, gpus, Parsed(text), requested)
    if (together := ranks(host.env)) is not None:  # before Slurm: under mpirun, a Slurm step belongs to mpirun
        return _ranked(host, gpus, together, requested)
    if host.env.get("SLURM_JOB_ID"):
        return _scheduled(host, gpus, requested)
    if host.env.get("KUBERNETES_SERVICE_HOST"):
        return _orchestrated(host, gpus, requested)
    return _local(host, gpus)


def _configured(host: Host, gpus: int, parsed: Parsed, requested: bool) -> Members | str:
    names = tuple(f"{job} {index}" for job in TRAINING_JOBS for index in sorted(parsed.jobs.get(job, ())))
    if not requested:
        return _local(host, gpus, _join_hint(f"the {len(names)} workers of TF_CONFIG") if len(names) > 1 else None)
    if parsed.problems:
        return f"TF_CONFIG can't be used: {parsed.problems[0].text}"
    if parsed.jobs.get("ps"):
        return "TF_CONFIG lists parameter servers: their workers train with ParameterServerStrategy, not with this strategy"
    if parsed.type == "evaluator":
        return "this process is TF_CONFIG's evaluator, which does not train"
    if len(names) < 2 or parsed.task is None or parsed.config is None:
        return _local(host, gpus)
    addresses = {task: parts for task, parts in parsed.addresses().items() if task in names}
    return Members("TF_CONFIG", names, addresses, (Start(names.index(parsed.task), json.dumps(parsed.config), None),))


def _ranked(host: Host, gpus: int, together: Ranks, requested: bool) -> Members | str:
    ranks = f"the {together.size} ranks of {together.launcher}"
    if not requested:
        return _local(host, gpus, _join_hint(ranks) if together.addresses else None)
    if not together.addresses:
        return (
            f"{ranks} run on several machines, and {together.launcher} does not provide their addresses: set TF_CONFIG for each"
            " of them, or start them with srun"
        )
    own = _share(gpus, together.local_rank, together.local_size)
    return _workers(together.launcher, together.addresses, {together.rank: own})


def _scheduled(host: Host, gpus: int, requested: bool) -> Members | str:
    try:
        step = slurm.step(host.env)
    except slurm.Unusable as error:
        return f"the cluster can't be read from Slurm: {error}" if requested else _local(host, gpus)
    if step is None:
        return _local(
            host,
            gpus,
            "this process is not in a step of the Slurm job: under srun, its tasks train together" if requested else None,
        )
    count = len(step.addresses)
    if count < 2 or not requested:
        return _local(host, gpus, _join_hint(f"the {count} tasks of this Slurm step") if count > 1 else None)
    own = None if step.bound else _share(gpus, step.place, step.places)
    return _workers("Slurm", step.addresses, {step.number: own})


def _orchestrated(host: Host, gpus: int, requested: bool) -> Members | str:
    """Return the workers of a pod. Only the API server lists the other pods; it is queried only if the strategy was requested."""
    indexed = bool(host.env.get("JOB_COMPLETION_INDEX"))
    if not requested:
        return _local(host, gpus, _join_hint("the pods of this Job") if indexed else None)
    # imported here because its structs take 2 ms
    from gpucheck.core.cluster import kubernetes
    from gpucheck.core.cluster.kubernetes_api import Unknown

    try:
        pods = kubernetes.pods(host)
    except kubernetes.Unusable as error:
        return f"the pods of this Kubernetes cluster can't train together: {error}"
    except kubernetes.Alone as error:
        return _local(host, gpus, f"two workers on this machine: {error}")
    except Unknown as error:
        if indexed:  # an indexed Job has other pods, and two workers here would not test them
            return f"the other pods of this Job can't be found: {error}; gpucheck --full trains two workers on this machine"
        return _local(host, gpus, f"two workers on this machine; whether other pods train with this one is not known: {error}")
    return _workers("Kubernetes", pods.addresses, {pods.number: None})


def _workers(source: str, addresses: Sequence[str], gpus: dict[int, tuple[int, ...] | None], note: str | None = None) -> Members:
    """Return a cluster of workers with these addresses; ``gpus`` are those of each worker that this run starts, by index."""
    names = tuple(f"worker {index}" for index in range(len(addresses)))
    cluster = {"worker": list(addresses)}
    starts = tuple(
        Start(index, json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}), own)
        for index, own in gpus.items()
    )
    addresses_by_name = {name: parts for name, address in zip(names, addresses, strict=True) if (parts := split(address))}
    return Members(source, names, addresses_by_name, starts, note)


def _share(gpus: int, place: int, places: int) -> tuple[int, ...] | None:
    """Return the GPUs for one of a machine's workers: an even share, as in Slurm's resolver; None: all that are visible."""
    each = gpus // places
    return tuple(range(place * each, (place + 1) * each)) if each and places > 1 else None


def _local(host: Host, gpus: int, note: str | None = None) -> Members:
    addresses = [f"127.0.0.1:{host.free_port()}" for _ in range(LOCAL_WORKERS)]
    enough = gpus >= LOCAL_WORKERS  # one GPU each, or none: two workers can't share a GPU
    return _workers(HERE, addresses, {index: (index,) if enough else () for index in range(LOCAL_WORKERS)}, note)


def _join_hint(workers: str) -> str:
    return f"two workers on this machine; {workers} train together if each runs gpucheck --strategy {STRATEGY}"
