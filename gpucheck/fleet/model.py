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
    seconds: float
