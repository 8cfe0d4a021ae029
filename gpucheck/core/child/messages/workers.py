"""Messages of a process of a cluster: a worker, or the coordinator of workers and a parameter server."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import Struct, field
from gpucheck.core.child.messages.training import WorkerLink


class WorkerTask(Task):
    """Train as one worker, or as the coordinator."""

    child: ClassVar[str] = "worker"
    package: ClassVar[str] = "training"
    examined: ClassVar[bool] = True
    strategy: str
    tf_config: str  # the variable TF_CONFIG
    name: str  # "worker 0"
    gpus: tuple[int, ...] | None  # indices into the visible GPUs; empty: train on the CPU; None: all of them
    log_device_placement: bool


class VersionsRead(Message):
    """Versions that should be equal on every worker; unreadable ones are omitted."""

    stage: ClassVar[str] = "versions"
    versions: dict[str, str]


class ClusterConnected(Message):
    """The strategy was built, which requires all workers to connect."""

    stage: ClassVar[str] = "connect"
    replicas: int | None = None


class WorkerRecord(Struct):
    """The record that a worker sends to the others."""

    name: str
    versions: dict[str, str] = field(default_factory=dict)
    devices: tuple[str, ...] = ()


class WorkersMet(Message):
    """Every worker's record, in the cluster's order."""

    stage: ClassVar[str] = "meet"
    workers: tuple[WorkerRecord, ...]


class LinksMeasured(Message):
    """All-reduce times of this worker with some others; ``problem``: why they are unknown."""

    stage: ClassVar[str] = "links"
    links: tuple[WorkerLink, ...] = ()
    problem: str | None = None


class FitTried(Message):
    """Whether ``Model.fit`` trains under the strategy."""

    stage: ClassVar[str] = "fit"
    verified: bool
    problem: str | None = None


class WorkerFailed(Message):
    """The worker failed with an exception, in the stage or step that it had begun."""

    stage: ClassVar[str] = "failed"
    problem: str
