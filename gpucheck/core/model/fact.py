"""The base class of facts, and the result of a probe."""

import msgspec

from gpucheck.core.model.kinds import ProbeStatus


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Base class of what probes return: plain fields, units in their names, None for unknown."""


def probe_of(kind: type[Fact]) -> str:
    """Return the name of the probe of a fact type: the module that declares it (for ``Request``: "request")."""
    return kind.__module__.rpartition(".")[2]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a probe: the fact, or the problem that prevented it."""

    probe: str
    status: ProbeStatus
    fact: Fact | None = None
    problem: str | None = None
    seconds: float = 0.0
