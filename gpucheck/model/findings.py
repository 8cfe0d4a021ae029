"""What rules say: findings with their evidence, and what a report makes of them."""

from typing import Any

import msgspec

from gpucheck.model.assignments import Assignment
from gpucheck.model.fact import Fact, probe_of
from gpucheck.model.kinds import Scope, Severity, Status


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One observed value a judgement rests on."""

    fact: str  # the probe's name
    field: str  # path inside the fact, such as ``gpus[3].memory_total_bytes``
    value: Any  # as it stands in the fact


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """One way to repair it: what to do, and the command where one exists for this machine."""

    text: str
    command: str | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule returns when it holds. The summary is one sentence with the values, for somebody who knows no CUDA."""

    summary: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]  # best first
    affects: tuple[str, ...] = ()  # "GPU 3", "worker 1"; empty: the whole machine
    severity: Severity | None = None  # None: the rule's own
    assignments: tuple[Assignment, ...] = ()  # environment variables that repair it, or would
    not_explained_by: tuple[str, ...] = ()  # codes that explain it in general, and which its own measurement excludes


class Skip(msgspec.Struct, frozen=True):
    """What a rule returns when it could not look."""

    reason: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one rule in one run."""

    code: str
    status: Status
    reason: str | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A finding with everything a reader needs to act on it; ``explained_by`` names the root cause it follows from."""

    code: str
    row: str
    severity: Severity
    scope: Scope
    summary: str
    evidence: tuple[Evidence, ...]
    first_check: str
    fix: tuple[Fix, ...]
    affects: tuple[str, ...] = ()
    assignments: tuple[Assignment, ...] = ()  # environment variables that repair it, or would
    explained_by: str | None = None
    muted: str | None = None  # "REASON until DATE": it does not count for the verdict
    mute_expired: str | None = None  # "REASON until DATE": it was muted, and counts again


def saw(fact: Fact, *fields: str) -> tuple[Evidence, ...]:
    """Evidence from fields of a probe's fact, named by the probe's module; dotted and indexed paths are followed.

    ``saw(gpus, "gpus[0].name")`` -> one piece of evidence. Raises AttributeError for a field that does not exist: a rule
    cannot cite what was never observed.
    """
    probe = probe_of(type(fact))
    return tuple(Evidence(fact=probe, field=field, value=_follow(fact, field)) for field in fields)


def _follow(value: Any, path: str) -> Any:
    for part in path.replace("[", ".").replace("]", "").split("."):
        if part.isdigit() and isinstance(value, (list, tuple)):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value[part]
        else:
            value = getattr(value, part)
    return value
