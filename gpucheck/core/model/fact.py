"""The base class of facts, the result of a probe, and the facts of a run by their type."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

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


FactType = TypeVar("FactType", bound=Fact)


class Facts:
    """The facts of a run, by type: ``facts.get(Driver)`` is a ``Driver`` or None."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        self._readings = {reading.probe: reading for reading in readings}
        self._facts: dict[type[Fact], Fact] = {
            type(reading.fact): reading.fact for reading in self._readings.values() if reading.fact is not None
        }

    def get(self, kind: type[FactType]) -> FactType | None:
        """Return the fact of that type; None if its probe has none."""
        fact = self._facts.get(kind)
        return fact if isinstance(fact, kind) else None

    def reading(self, probe: str) -> Reading | None:
        """Return the reading of a probe; None if it never ran."""
        return self._readings.get(probe)

    def __iter__(self) -> Iterator[Reading]:
        return iter(self._readings.values())
