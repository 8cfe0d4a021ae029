"""What counts in a report: root causes and what follows from each, rules that could not look."""

from gpucheck.core.expectations import NONE_GIVEN
from gpucheck.core.model import Diagnosis, Outcome, Report, Request, Severity, Status, Verdict
from gpucheck.core.model.plugin import NOT_OF_NODE
from gpucheck.core.reports.shared.words import plural


def roots(report: Report) -> list[Diagnosis]:
    """The findings that count and follow from no other that does: errors first, otherwise in the report's order."""
    muted_codes = {finding.code for finding in muted(report)}
    causes = [
        finding
        for finding in report.findings
        if finding.code not in muted_codes and (finding.explained_by is None or finding.explained_by in muted_codes)
    ]
    return sorted(causes, key=lambda finding: finding.severity is not Severity.ERROR)


def root_code(report: Report) -> str | None:
    """The code of the first root cause; None without one, or without a verdict."""
    return next((root.code for root in roots(report) if report.verdict is not Verdict.UNKNOWN), None)


def action_mark(report: Report) -> str:
    """ " [reset-gpu]": what the first root cause asks for, if no new job may start before it; else empty."""
    action = next((root.action for root in roots(report) if report.verdict is not Verdict.UNKNOWN), None)
    return f" [{action.value}]" if action is not None and action.severity is Severity.ERROR else ""


def muted(report: Report) -> list[Diagnosis]:
    """The findings that the user knows of and that don't count for now."""
    return [finding for finding in report.findings if finding.muted is not None]


def followers(report: Report, root: Diagnosis) -> list[Diagnosis]:
    """The findings that a root cause explains."""
    return [finding for finding in report.findings if finding.explained_by == root.code]


def first_steps(root: Diagnosis) -> list[str]:
    """What to do first, as a command where there is one; empty if unknown."""
    return [fix.command or fix.text for fix in root.fix[:1]]


def warnings_fail(report: Report) -> bool:
    """Whether the run was asked to count warnings as faults (--strict)."""
    request = report.fact(Request)
    return bool(request and request.strict) or (report.verdict is Verdict.WARN and report.exit_code != 0)


def outcomes(report: Report, *statuses: Status) -> list[Outcome]:
    """What became of the rules that this run had a question for: of expectations only where some were given, of a node its own.

    Args:
        report: of the run.
        statuses: only the rules that ended so; none: all of them.
    """
    asked = (outcome for outcome in report.outcomes if outcome.reason not in (NONE_GIVEN, NOT_OF_NODE))
    return [outcome for outcome in asked if not statuses or outcome.status in statuses]


def unchecked(report: Report) -> list[Outcome]:
    """The rules that could not look, and those that crashed."""
    return outcomes(report, Status.SKIPPED, Status.CRASHED)


def ruled_out(report: Report) -> list[str]:
    """The codes of the rules that found nothing."""
    return [outcome.code for outcome in outcomes(report, Status.CLEAR)]


def gaps(report: Report) -> list[str]:
    """How many could not look: "3 not checked", "1 check crashed"; empty where every rule could."""
    skipped, crashed = len(outcomes(report, Status.SKIPPED)), len(outcomes(report, Status.CRASHED))
    return [f"{skipped:,} not checked"] * bool(skipped) + [f"{plural(crashed, 'check')} crashed"] * bool(crashed)
