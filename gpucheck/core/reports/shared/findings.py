"""Select from a report: root causes, the findings that they explain, and rules that were not checked."""

from gpucheck.core.expectations import NO_EXPECTATIONS
from gpucheck.core.model import Diagnosis, Outcome, Report, Request, Severity, Status, Verdict
from gpucheck.core.model.plugin import NOT_OF_NODE
from gpucheck.core.reports.shared.words import plural


def roots(report: Report) -> list[Diagnosis]:
    """Return the root causes: findings that are not muted or explained by another. Errors first, else in the report's order."""
    muted_codes = {finding.code for finding in muted(report)}
    causes = [
        finding
        for finding in report.findings
        if finding.code not in muted_codes and (finding.explained_by is None or finding.explained_by in muted_codes)
    ]
    return sorted(causes, key=lambda finding: finding.severity is not Severity.ERROR)


def first_root(report: Report) -> Diagnosis | None:
    """The first root cause; None without one, or without a verdict."""
    return next(iter(roots(report)), None) if report.verdict is not Verdict.UNKNOWN else None


def root_code(report: Report) -> str | None:
    """The code of the first root cause; None as for it."""
    root = first_root(report)
    return None if root is None else root.code


def muted(report: Report) -> list[Diagnosis]:
    """The muted findings."""
    return [finding for finding in report.findings if finding.muted is not None]


def followers(report: Report, root: Diagnosis) -> list[Diagnosis]:
    """The findings that a root cause explains."""
    return [finding for finding in report.findings if finding.explained_by == root.code]


def first_steps(root: Diagnosis) -> list[str]:
    """The first step of the fix, as a command if there is one; empty if unknown."""
    return [fix.command or fix.text for fix in root.fix[:1]]


def warnings_fail(report: Report) -> bool:
    """Whether warnings count as faults (--strict)."""
    request = report.fact(Request)
    return bool(request and request.strict) or (report.verdict is Verdict.WARN and report.exit_code != 0)


def outcomes(report: Report, *statuses: Status) -> list[Outcome]:
    """Return the outcomes of the rules in this run's scope: expectations only if given; for a node, only its rules.

    Args:
        report: of the run.
        statuses: only outcomes with these; empty: all.
    """
    asked = (outcome for outcome in report.outcomes if outcome.reason not in (NO_EXPECTATIONS, NOT_OF_NODE))
    return [outcome for outcome in asked if not statuses or outcome.status in statuses]


def unchecked(report: Report) -> list[Outcome]:
    """The rules that were skipped or crashed."""
    return outcomes(report, Status.SKIPPED, Status.CRASHED)


def ruled_out(report: Report) -> list[str]:
    """The codes of the rules that found nothing."""
    return [outcome.code for outcome in outcomes(report, Status.CLEAR)]


def gaps(report: Report) -> list[str]:
    """Count what was not checked: "3 not checked", "1 check crashed"; empty if all rules were applied."""
    skipped, crashed = len(outcomes(report, Status.SKIPPED)), len(outcomes(report, Status.CRASHED))
    return [f"{skipped:,} not checked"] * bool(skipped) + [f"{plural(crashed, 'check')} crashed"] * bool(crashed)
