"""The facts of a run, looked up by their type."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from gpucheck.core.model import Fact, Reading

FactType = TypeVar("FactType", bound=Fact)


class Facts:
    """The facts of a run, by type: ``facts[Driver]`` is a ``Driver``."""

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
