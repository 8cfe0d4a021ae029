"""The report of a run: the one model that every format renders."""

import msgspec

from gpucheck.core.child.messages.training import TrainingRun
from gpucheck.core.model.fact import Fact, FactType, probe_of
from gpucheck.core.model.findings import Diagnosis, Outcome
from gpucheck.core.model.kinds import ProbeStatus, Verdict

SCHEMA_VERSION = "1.0"


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """An additional experiment (a file of ``gpucheck/core/training/experiments``) and its measurements."""

    name: str
    status: str  # "passed" | "failed" | "skipped" | "timed_out"
    reason: str | None = None  # why it did not pass, in one sentence
    devices: tuple[str, ...] = ()
    figures: dict[str, float | None] = msgspec.field(default_factory=dict)  # units in the names; None: unknown
    note: str | None = None  # an observation that is not a figure, in one sentence


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """The gpucheck version that wrote the report."""

    name: str = "gpucheck"
    version: str


class ProbeRun(msgspec.Struct, frozen=True, kw_only=True):
    """The status of one probe."""

    name: str
    status: ProbeStatus
    seconds: float
    problem: str | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A complete run. Findings are sorted, root causes first."""

    schema_version: str = SCHEMA_VERSION
    tool: Tool
    started_at: str  # RFC 3339, UTC
    seconds: float
    verdict: Verdict
    exit_code: int
    unknown_because: tuple[str, ...] = ()  # what could not be checked, for the verdict "unknown"
    findings: tuple[Diagnosis, ...]
    training: tuple[TrainingRun, ...]
    experiments: tuple[Experiment, ...] = ()
    probes: tuple[ProbeRun, ...]
    outcomes: tuple[Outcome, ...]
    facts: dict[str, Fact]  # by the probe's name; a probe without a fact is omitted

    def fact(self, kind: type[FactType]) -> FactType | None:
        """Return the fact of that type; None if its probe has none."""
        fact = self.facts.get(probe_of(kind))
        return fact if isinstance(fact, kind) else None

    @property
    def effective_verdict(self) -> str:
        """The verdict's value; a warning that fails because of --strict is "fail"."""
        return "fail" if self.verdict is Verdict.WARN and self.exit_code else self.verdict.value
