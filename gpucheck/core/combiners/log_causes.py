"""The causes that this run's own log reports, unless a training job of this run disproves them."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label
from gpucheck.core.model import Evidence, Fact, Finding, Fix, Severity, TrainingRun, combiner
from gpucheck.core.repairs.context import Context

if TYPE_CHECKING:  # --quick, which reads no log, would import all causes
    from gpucheck.core.logs.causes.cause import Cause


class LogCauses(Fact, frozen=True, kw_only=True):
    """The causes in the log, by code."""

    outcomes: TrainingOutcomes
    causes: "dict[str, Cause]"

    @property
    def kernel_failed(self) -> bool:
        """Whether the log reports an invalid kernel, after which every call fails."""
        if not self.outcomes.events:
            return False
        from gpucheck.core.logs.causes.memory import is_kernel_fault

        return any(is_kernel_fault(event) for event in self.outcomes.events)

    def cause(self, code: str) -> "Cause | None":
        """Return the cause with that code; None if all training jobs of this run passed."""
        return None if self.outcomes.all_passed else self.causes.get(code)

    def evidence(self, cause: "Cause | None") -> tuple[Evidence, ...]:
        """Return the log lines that show a cause."""
        cited = cause.events if cause is not None else ()
        places = [self.outcomes.events.index(event) for event in cited if event in self.outcomes.events]
        return tuple(item for place in places for item in self.outcomes.saw_event(place))

    def evidence_of(self, code: str, pattern: str) -> tuple[Evidence, ...] | None:
        """Return the evidence of a cause: a failed run whose reason matches, else the log's lines; None if there is neither."""
        failed, cause = self.outcomes.failed_run(pattern), self.cause(code)
        if failed is None and cause is None:
            return None
        return failed.evidence if failed is not None else self.evidence(cause)

    def failure(
        self,
        code: str,
        pattern: str,
        summary: str,
        fix: Iterable[Fix],
        *,
        on: Callable[[TrainingRun], bool] = lambda run: True,
        severity: Severity | None = None,
    ) -> Finding | None:
        """Return the finding from a failed run whose reason matches, else from the log; None if there is neither.

        Args:
            code: the cause's code.
            pattern: matches the failure's reason.
            summary: for a failed run, with the placeholders {run} and {text}.
            fix: for both; read once.
            on: selects the runs to consider.
            severity: for a failed run; None: the rule's own.
        """
        failed = self.outcomes.failed_run(pattern, on)
        if failed is not None and failed.run is not None:
            sentence = summary.format(run=label(failed.run), text=failed.text)
            return Finding(summary=sentence, evidence=failed.evidence, fix=fix, affects=failed.affects, severity=severity)
        cause = self.cause(code)
        return self.finding(cause, fix) if cause is not None else None

    def repaired(self, cause: "Cause", repairs: Callable[..., Iterable[Fix]], context: Context) -> Finding:
        """Return the cause as a finding, with the repairs for the values in its lines."""
        return self.finding(cause, repairs(context, **cause.values(repairs.__kwdefaults__ or ())))

    def finding(self, cause: "Cause", fix: Iterable[Fix]) -> Finding:
        """Return the cause as a finding."""
        return Finding(
            summary=cause.summary,
            evidence=self.evidence(cause),
            fix=fix,
            affects=cause.affects,
            action=cause.action,
            severity=cause.own_severity,
        )


@combiner
def combine(outcomes: TrainingOutcomes) -> LogCauses:
    """Infer the causes from the log; none without a log."""
    if outcomes.log is None:
        return LogCauses(outcomes=outcomes, causes={})
    from gpucheck.core.logs.causes import judge

    return LogCauses(outcomes=outcomes, causes=judge(outcomes.log))
