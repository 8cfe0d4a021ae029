"""What expectations are held against, and what comes of each: met, not met, or could not be looked at."""

from typing import NamedTuple

from gpucheck.engine.facts import Facts, FactType
from gpucheck.model import Evidence, Expectations, Fact, Level, Request
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.keras import Keras
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training


class Item(NamedTuple):
    """One expectation. ``met`` is None where it could not be looked at; ``seen`` then says why."""

    what: str  # "Keras", "GPU 3"
    expected: str  # "==3.15.*", "at least 139 GiB"
    seen: str
    met: bool | None
    evidence: tuple[Evidence, ...] = ()
    affects: tuple[str, ...] = ()


class Seen:
    """The facts that expectations are held against, and why one of them is not there."""

    def __init__(self, request: Request, facts: dict[type[Fact], Fact | None]) -> None:
        self.request = request
        self._facts = facts

    @classmethod
    def of(cls, request: Request, *facts: Fact | None) -> "Seen":
        """Of the facts that a rule was handed."""
        return cls(request, {type(fact): fact for fact in facts if fact is not None})

    @classmethod
    def all(cls, request: Request, facts: Facts) -> "Seen":
        """Of a whole run."""
        kinds = (Cuda, Driver, Gpus, Interpreter, Keras, Libraries, Packages, TensorFlow, Training)
        return cls(request, {kind: facts.get(kind) for kind in kinds})

    def get(self, kind: type[FactType]) -> FactType | None:
        """The fact of that type, if there is one."""
        fact = self._facts.get(kind)
        return fact if isinstance(fact, kind) else None

    def why_not(self, kind: type[Fact]) -> str:
        """Why there is none of that type."""
        if kind in (TensorFlow, Keras, Training) and self.request.level < Level.DEFAULT:
            return "not looked at with --quick"
        if kind is Training and not self.request.smoke:
            return "not looked at with --no-smoke"
        return f"the probe {kind.__module__.rpartition('.')[2]} gave no answer"

    @property
    def expected(self) -> Expectations:
        """What the user expects; nothing where nothing was said."""
        return self.request.expectations or Expectations()
