"""The causes that this run's own log reports, unless a training job of this run disproves them; and those of failed jobs."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gpucheck.core.combiners.training_outcomes import Failure, TrainingOutcomes, label
from gpucheck.core.model import Evidence, Fact, Finding, Fix, Severity, TrainingRun, combiner
from gpucheck.core.repairs.context import Context

if TYPE_CHECKING:  # --quick, which reads no log, would import all causes
    from gpucheck.core.logs.causes.cause import Cause

REASON_CHARACTERS = 4000  # that are judged: a job reports less, a report from elsewhere may have megabytes


class LogCauses(Fact, frozen=True, kw_only=True):
    """The causes in the log, by code, and the causes of failed training jobs, which their reasons report as a log does."""

    outcomes: TrainingOutcomes
    causes: "dict[str, Cause]"
    of_reasons: "dict[str, dict[str, Cause]]"  # by the reason of a failed job

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

    def failed_run(self, code: str, on: Callable[[TrainingRun], bool] = lambda run: True) -> Failure | None:
        """Return the first failed run whose reason reports the cause with that code."""
        return self.outcomes.failed_run(lambda run: code in self.of_reasons.get(run.reason or "", ()) and on(run))

    def evidence_of(self, code: str) -> tuple[Evidence, ...] | None:
        """Return the evidence of a cause: a failed run that reports it, else the log's lines; None if there is neither."""
        failed, cause = self.failed_run(code), self.cause(code)
        if failed is None and cause is None:
            return None
        return failed.evidence if failed is not None else self.evidence(cause)

    def failure(
        self,
        code: str,
        summary: str,
        fix: Iterable[Fix],
        *,
        on: Callable[[TrainingRun], bool] = lambda run: True,
        severity: Severity | None = None,
    ) -> Finding | None:
        """Return the finding from a failed run that reports the cause, else from the log; None if there is neither.

        Args:
            code: the cause's code.
            summary: for a failed run, with the placeholders {run} and {text}.
            fix: for both; read once.
            on: selects the runs to consider.
            severity: for a failed run; None: the rule's own.
        """
        failed = self.failed_run(code, on)
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
    """Infer the causes from the log and the reasons of failed jobs; none without either."""
    reasons = {run.reason for run in outcomes.failed if run.reason}
    if outcomes.log is None and not reasons:
        return LogCauses(outcomes=outcomes, causes={}, of_reasons={})
    from gpucheck.core.logs.causes import judge
    from gpucheck.core.logs.reading import parse

    of_reasons = {reason: judge(parse(reason[:REASON_CHARACTERS].splitlines(), "")) for reason in reasons}
    return LogCauses(outcomes=outcomes, causes=judge(outcomes.log) if outcomes.log is not None else {}, of_reasons=of_reasons)
