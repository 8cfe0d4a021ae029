"""What is known of a fleet: the one model that every format renders, and whose JSON is published."""

import msgspec

FLEET_SCHEMA_VERSION = "1.0"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the nodes."""

    count: int
    nodes: str  # in hostlist notation: "gpu[003-014]"


class FleetCause(msgspec.Struct, frozen=True, kw_only=True):
    """A root cause, and the nodes that have it."""

    code: str
    severity: str
    scope: str
    count: int
    nodes: str
    example: str  # the summary of one of them
    example_node: str


class Odd(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of a group whose value is not the usual one."""

    what: str  # "TensorFlow"
    value: str
    usual: str
    usual_count: int
    count: int
    nodes: str


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes with the same GPUs; only among them are versions and speeds compared."""

    gpus: str  # "NVIDIA H200"; "no GPU"
    count: int
    nodes: str
    usual: dict[str, str]  # what most of them have
    alike: int  # nodes that have all of it
    odd: tuple[Odd, ...]


class Slow(msgspec.Struct, frozen=True, kw_only=True):
    """A node that is slower than its group."""

    node: str
    job: str
    what: str  # "samples/s", or "seconds of the first step"
    value: float
    median: float  # of its group
    nodes_compared: int


class Unusual(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or a node, that something is wrong with beside its verdict."""

    kind: str  # "duplicate", "two nodes of one name", "future", or as in ``read.Unread``
    file: str
    why: str


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One node, for tables."""

    name: str
    verdict: str
    started_at: str
    cause: str | None  # the code of its first root cause, or why there is no verdict
    gpus: str


class FleetWorker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker of the training, as its own node tells it; None: not known."""

    name: str  # "worker 0"
    node: str
    address: str  # by which the others find it
    status: str  # "passed", "failed", "timed_out", "skipped"; "no report"
    reason: str | None  # why it did not pass
    versions: dict[str, str]
    alone_samples_per_second: float | None  # of its slowest device, each trained alone before
    link_seconds: float | None  # of its fastest link: what it can do at best


class FleetLink(msgspec.Struct, frozen=True, kw_only=True):
    """How fast two nodes sum a tensor together (all-reduce), over the network and in host memory."""

    nodes: tuple[str, str]
    sum_bytes: int
    seconds: float


class FleetFault(msgspec.Struct, frozen=True, kw_only=True):
    """A worker by which the training failed."""

    worker: str
    node: str
    how: str  # as in the report's WorkerFault: "ended", "raised", "missing", "lost", ...
    reason: str
    stage: str | None
    told_by: str  # the node that says so


class FleetSkew(msgspec.Struct, frozen=True, kw_only=True):
    """Workers whose version of something is not the usual one."""

    what: str  # "tensorflow"
    value: str
    usual: str
    nodes: str
    tolerated: bool  # workers need not share it


class FleetTraining(msgspec.Struct, frozen=True, kw_only=True):
    """One training of all nodes together, by MultiWorkerMirroredStrategy."""

    status: str  # "passed"; "failed"; "unknown": somebody's report is missing, or it was not tried
    reason: str | None
    workers: tuple[FleetWorker, ...]  # in the cluster's order
    faults: tuple[FleetFault, ...]  # those that the others follow from
    skew: tuple[FleetSkew, ...]
    links: tuple[FleetLink, ...]
    slow: tuple[str, ...]  # nodes whose links are all slow
    samples_per_second: float | None  # of all together
    step_seconds: float | None
    first_step_seconds: float | None
    shards_verified: bool | None  # each worker was fed samples that no other got
    replicas_equal: bool | None  # all ended with the same weights
    loss_fell: bool | None


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """All reports, merged."""

    schema_version: str = FLEET_SCHEMA_VERSION
    tool: dict[str, str]
    verdict: str  # "fail" where a node fails; then "unknown" where something could not be looked at; "warn"; "pass"
    exit_code: int
    files: int
    counts: dict[str, int]  # nodes by verdict
    causes: tuple[FleetCause, ...]  # errors first, then the most frequent
    unknown: dict[str, Part]  # why there is no verdict: the nodes
    unreached: dict[str, Part]  # why an engine has no report of some nodes: the nodes
    missing: Part | None  # nodes that were asked for and have no report; None: nobody said which there are
    groups: tuple[Group, ...]  # the largest first
    slow: tuple[Slow, ...]
    unusual: tuple[Unusual, ...]
    nodes: tuple[Node, ...]  # sorted by name
    training: FleetTraining | None = None  # of ``fleet train``
    seconds: float
