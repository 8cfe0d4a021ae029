"""The base of what probes observe, and what became of a probe."""

import msgspec

from gpucheck.core.model.kinds import ProbeStatus


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Base of everything a probe returns: plain fields, units in their names, None for unknown."""


def probe_of(kind: type[Fact]) -> str:
    """The name of the probe that observes facts of that type: the module that declares it (for ``Request``: "request")."""
    return kind.__module__.rpartition(".")[2]


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One probe's result: the fact, or the problem why there is none."""

    probe: str
    status: ProbeStatus
    fact: Fact | None = None
    problem: str | None = None
    seconds: float = 0.0
