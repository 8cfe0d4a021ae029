"""The facts that expectations are compared with, and the result of each: met, not met, or not checked."""

import msgspec

from gpucheck.core.model import Evidence, Expectations, Fact, Level, Report, Request, probe_of
from gpucheck.core.model.fact import FactType
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training


class Item(msgspec.Struct, frozen=True):
    """One expectation. ``met`` is None if it could not be checked; ``observed`` is then the reason."""

    what: str  # "Keras", "GPU 3"
    expected: str  # "==3.15.*", "at least 139 GiB"
    observed: str
    met: bool | None
    evidence: tuple[Evidence, ...] = ()
    affects: tuple[str, ...] = ()


class Machine:
    """The facts that expectations are compared with, and why one is missing."""

    def __init__(self, request: Request, *facts: Fact | None) -> None:
        """Keep the request, which has the expectations, and the facts; a fact that is None was not observed."""
        self.request = request
        self._facts = {type(fact): fact for fact in facts}

    @classmethod
    def of(cls, report: Report) -> "Machine":
        """Return the machine of a report."""
        return cls(report.fact(Request) or Request(), *report.facts.values())

    def get(self, kind: type[FactType]) -> FactType | None:
        """Return the fact of that type, if there is one."""
        fact = self._facts.get(kind)
        return fact if isinstance(fact, kind) else None

    def why_not(self, kind: type[Fact]) -> str:
        """Return why there is no fact of that type."""
        if kind in (TensorFlow, Keras, Training) and self.request.level < Level.DEFAULT:
            return "not checked with --quick"
        if kind is Training and not self.request.smoke:
            return "not checked with --no-smoke"
        return f"the probe {probe_of(kind)} returned no result"

    @property
    def expected(self) -> Expectations:
        """The user's expectations; empty if there are none."""
        return self.request.expectations or Expectations()
