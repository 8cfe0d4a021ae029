"""Select from a report: root causes, the findings that they explain, rules that were not checked, probes without a result."""

from gpucheck.core.expectations import NO_EXPECTATIONS
from gpucheck.core.model import Diagnosis, Level, Outcome, ProbeRun, ProbeStatus, Report, Request, Severity, Status, Verdict
from gpucheck.core.model.plugin import NOT_OF_NODE
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.kernel_log import KernelLog
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training
from gpucheck.core.reports.shared.words import plural


def roots(report: Report) -> list[Diagnosis]:
    """Return the root causes: findings that are neither muted nor explained by others; errors first, then in report order."""
    muted_codes = {finding.code for finding in muted(report)}
    causes = [
        finding
        for finding in report.findings
        if finding.code not in muted_codes and (finding.explained_by is None or finding.explained_by in muted_codes)
    ]
    return sorted(causes, key=lambda finding: finding.severity is not Severity.ERROR)


def first_root(report: Report) -> Diagnosis | None:
    """Return the first root cause; None without one, or without a verdict."""
    return next(iter(roots(report)), None) if report.verdict is not Verdict.UNKNOWN else None


def root_code(report: Report) -> str | None:
    """Return the code of the first root cause; None without one, or without a verdict."""
    root = first_root(report)
    return None if root is None else root.code


def muted(report: Report) -> list[Diagnosis]:
    """Return the muted findings."""
    return [finding for finding in report.findings if finding.muted is not None]


def followers(report: Report, root: Diagnosis) -> list[Diagnosis]:
    """Return the findings that a root cause explains."""
    return [finding for finding in report.findings if finding.explained_by == root.code]


def first_steps(root: Diagnosis) -> list[str]:
    """Return the first step of the fix, as a command if there is one; empty if unknown."""
    return [fix.command or fix.text for fix in root.fix[:1]]


def warnings_fail(report: Report) -> bool:
    """Whether warnings count as faults (--strict)."""
    request = report.fact(Request)
    return bool(request and request.strict) or (report.verdict is Verdict.WARN and report.exit_code != 0)


def outcomes(report: Report, *statuses: Status) -> list[Outcome]:
    """Return the outcomes of the rules in this run's scope: expectations only if given; for a node, only its rules.

    Args:
        report: report of the run.
        statuses: only outcomes with one of these; empty: all.
    """
    in_scope = (outcome for outcome in report.outcomes if outcome.reason not in (NO_EXPECTATIONS, NOT_OF_NODE))
    return [outcome for outcome in in_scope if not statuses or outcome.status in statuses]


def unchecked(report: Report) -> list[Outcome]:
    """Return the rules that were skipped or crashed."""
    return outcomes(report, Status.SKIPPED, Status.CRASHED)


def ruled_out(report: Report) -> list[str]:
    """Return the codes of the rules that found nothing."""
    return [outcome.code for outcome in outcomes(report, Status.CLEAR)]


def gaps(report: Report) -> list[str]:
    """Count what was not checked: "3 not checked", "1 check crashed"; empty if all rules were applied."""
    skipped, crashed = len(outcomes(report, Status.SKIPPED)), len(outcomes(report, Status.CRASHED))
    return [f"{skipped:,} not checked"] * bool(skipped) + [f"{plural(crashed, 'check')} crashed"] * bool(crashed)


def has_result(report: Report, run: ProbeRun) -> bool:
    """Whether a probe got its result: if its child process ended early, its fact only records that."""
    return run.status is ProbeStatus.OK and why_no_result(report, run) is None


def why_no_result(report: Report, run: ProbeRun) -> str | None:
    """Return why a completed probe has no result: how its child ended, and in which stage; None if it has one."""
    if run.status is not ProbeStatus.OK:
        return None
    match report.facts.get(run.name):
        case TensorFlow(devices=None, ending=str() as ending, stage=stage):
            return _in_stage(ending, stage)
        case Backend(devices=None, ending=ending):
            return ending
        case Keras(imported=None, error=error):
            return error or "no answer"
        case KernelLog() as log if (report.fact(Request) or Request()).level is Level.NODE:  # --quick does not read it
            return log.unread
        case DeviceNodes(ending=str() as ending):
            return ending
        case Training(runs=(), ending=str() as ending, stage=stage):
            return _in_stage(ending, stage)
    return None


def _in_stage(ending: str, stage: str | None) -> str:
    return f"{ending} in the stage {stage}" if stage else ending
