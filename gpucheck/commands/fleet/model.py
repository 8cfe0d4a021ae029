"""The data model of a fleet, which every format renders, and which is published as JSON."""

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
    command: str | None = None  # the fix on the example node
    action: str | None = None  # the hardware action on the example node: "reset-gpu"


class Outlier(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of a group whose value differs from the majority."""

    what: str  # "TensorFlow"
    value: str
    usual: str
    usual_count: int
    count: int
    nodes: str


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes with the same GPUs; versions and speeds are compared only within a group."""

    gpus: str  # "NVIDIA H200"; "no GPU"
    count: int
    nodes: str
    usual: dict[str, str]  # the majority's values
    matching: int = msgspec.field(name="alike")  # nodes that match the majority in all values
    outliers: tuple[Outlier, ...] = msgspec.field(name="odd")


class Slow(msgspec.Struct, frozen=True, kw_only=True):
    """A node that is slower than its group."""

    node: str
    job: str
    what: str  # "samples/s", or "seconds of the first step"
    value: float
    median: float  # of its group
    nodes_compared: int


class Unusual(msgspec.Struct, frozen=True, kw_only=True):
    """A problem of a file or a node, other than its verdict."""

    # "half-written", "foreign", "another schema", "too large", "unreadable": not a valid, complete report
    kind: str  # or "duplicate", "two nodes of one name", "wrong clock", "old"
    node: str
    file: str
    why: str


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One node, for tables."""

    name: str
    verdict: str
    started_at: str
    cause: str | None  # the code of its first root cause, or why there is no verdict
    gpus: str
    remarks: tuple[str, ...] = ()  # other problems and differences: "slow", "TensorFlow 2.19.1", "old"


class FleetWorker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker of the training, from its own node's report; None: unknown."""

    name: str  # "worker 0"
    node: str
    address: str  # for connections from the other workers
    status: str  # "passed", "failed", "timed_out", "skipped"; "no report"
    reason: str | None  # why it did not pass
    versions: dict[str, str]
    alone_samples_per_second: float | None  # of its slowest device, each trained alone
    link_seconds: float | None  # all-reduce time of its fastest link


class FleetLink(msgspec.Struct, frozen=True, kw_only=True):
    """How fast two nodes all-reduce a tensor, over the network and in host memory."""

    nodes: tuple[str, str]
    sum_bytes: int
    seconds: float


class FleetFault(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that made the training fail."""

    worker: str
    node: str
    how: str  # as in the report's WorkerFault: "ended", "raised", "missing", "lost", ...
    reason: str
    stage: str | None
    reporter: str = msgspec.field(name="told_by")  # the node that reported it


class FleetSkew(msgspec.Struct, frozen=True, kw_only=True):
    """Workers whose version of a component differs from the majority."""

    what: str  # "tensorflow"
    value: str
    usual: str
    nodes: str
    tolerated: bool  # the version may differ between workers


class FleetTraining(msgspec.Struct, frozen=True, kw_only=True):
    """One training of all nodes together with MultiWorkerMirroredStrategy."""

    status: str  # "passed"; "failed"; "unknown": a report is missing, or nothing was trained
    reason: str | None
    workers: tuple[FleetWorker, ...]  # in the cluster's order
    faults: tuple[FleetFault, ...]  # root causes only
    skew: tuple[FleetSkew, ...]
    links: tuple[FleetLink, ...]
    slow: tuple[str, ...]  # nodes with only slow links
    samples_per_second: float | None  # of all workers together
    step_seconds: float | None
    first_step_seconds: float | None
    shards_verified: bool | None  # no sample went to two workers
    replicas_equal: bool | None  # all workers ended with the same weights
    loss_fell: bool | None


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """All reports, merged."""

    schema_version: str = FLEET_SCHEMA_VERSION
    tool: dict[str, str]
    verdict: str  # "fail" if a node fails; then "unknown" if something could not be checked; "warn"; "pass"
    exit_code: int
    files: int
    counts: dict[str, int]  # nodes by verdict
    causes: tuple[FleetCause, ...]  # errors first, then the most frequent
    unknown: dict[str, Part]  # nodes without a verdict, by reason
    unreached: dict[str, Part]  # nodes that the engine did not check, by reason
    missing: Part | None  # expected nodes without a report; None: expected nodes not given
    groups: tuple[Group, ...]  # the largest first
    slow: tuple[Slow, ...]
    unusual: tuple[Unusual, ...]
    nodes: tuple[Node, ...]  # sorted by name
    training: FleetTraining | None = None  # of ``fleet train``
    seconds: float
    redacted: bool = False  # whether aliases such as "host-1" replace names

    @property
    def by_strict(self) -> bool:
        """Whether the exit code is due to --strict, not to the verdict."""
        return self.exit_code != {"fail": 1, "unknown": 3}.get(self.verdict, 0)
