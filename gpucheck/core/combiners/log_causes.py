"""What this run's own log says went wrong, as far as no training that was tried here shows otherwise."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label
from gpucheck.core.model import Evidence, Fact, Finding, Fix, Severity, TrainingRun
from gpucheck.core.model.plugin import combiner
from gpucheck.core.repairs.context import Context

if TYPE_CHECKING:  # --quick, which reads no log, would pay for all causes
    from gpucheck.core.logs.causes.cause import Cause


class LogCauses(Fact, frozen=True, kw_only=True):
    """The causes that the log names, by their codes."""

    outcomes: TrainingOutcomes
    named: "dict[str, Cause]"

    @property
    def kernel_failed(self) -> bool:
        """Whether the log reports an invalid kernel, after which every call fails."""
        if not self.outcomes.events:
            return False
        from gpucheck.core.logs.causes.memory import is_kernel_fault

        return any(is_kernel_fault(event) for event in self.outcomes.events)

    def alarm(self, code: str) -> "Cause | None":
        """That cause; None where training, tried here, went well all the same."""
        return None if self.outcomes.all_passed else self.named.get(code)

    def evidence(self, cause: "Cause | None") -> tuple[Evidence, ...]:
        """The lines that it rests on."""
        cited = cause.events if cause is not None else ()
        places = [self.outcomes.events.index(event) for event in cited if event in self.outcomes.events]
        return tuple(item for place in places for item in self.outcomes.saw_event(place))

    def seen(self, code: str, pattern: str) -> tuple[Evidence, ...] | None:
        """What shows that cause: a run that failed with a reason that matches, else the alarm; None: neither."""
        failed, cause = self.outcomes.failed_run(pattern), self.alarm(code)
        if failed is None and cause is None:
            return None
        return failed.evidence if failed is not None else self.evidence(cause)

    def failure(
        self,
        code: str,
        pattern: str,
        summary: str,
        fix: tuple[Fix, ...],
        *,
        on: Callable[[TrainingRun], bool] = lambda run: True,
        severity: Severity | None = None,
    ) -> Finding | None:
        """A run that failed with a reason that matches, else the alarm of that code.

        Args:
            code: of the cause.
            pattern: of the reason.
            summary: of the run's failure, with {run} and {text} where they belong.
            fix: of either.
            on: which runs count.
            severity: of the run's failure; None: the rule's own.
        """
        failed = self.outcomes.failed_run(pattern, on)
        if failed is not None and failed.run is not None:
            sentence = summary.format(run=label(failed.run), text=failed.text)
            return Finding(summary=sentence, evidence=failed.evidence, fix=fix, affects=failed.affects, severity=severity)
        cause = self.alarm(code)
        return self.finding(cause, fix) if cause is not None else None

    def repaired(self, cause: "Cause", repairs: Callable[..., Iterable[Fix]], context: Context) -> Finding:
        """The cause as a rule's finding, with the rule's repairs for what its lines name."""
        return self.finding(cause, tuple(repairs(context, **cause.values(repairs.__kwdefaults__ or ()))))

    def finding(self, cause: "Cause", fix: tuple[Fix, ...]) -> Finding:
        """The cause as a rule's finding."""
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
    """None without a log."""
    if outcomes.log is None:
        return LogCauses(outcomes=outcomes, named={})
    from gpucheck.core.logs.causes import judge

    return LogCauses(outcomes=outcomes, named=judge(outcomes.log))
