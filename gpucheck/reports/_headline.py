"""The answer of a run in one sentence, and in the words of the systems that ask for it."""

from gpucheck.compat.keras import TITLES
from gpucheck.expectations import NONE_GIVEN
from gpucheck.model import Diagnosis, Level, Outcome, Report, Severity, Status, Verdict
from gpucheck.model.naming import devices
from gpucheck.reports._areas import gpu_count, gpu_names
from gpucheck.reports._words import plural

# Exit codes by style, then by state. Nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. node-problem-detector: 0 the condition
# is false, 1 it is true, 2 unknown. Docker: 0 healthy, 1 unhealthy, 2 reserved: what was not looked at is not healthy.
EXIT_STYLES = {
    "default": {"pass": 0, "warn": 0, "fail": 1, "usage": 2, "unknown": 3},
    "nagios": {"pass": 0, "warn": 1, "fail": 2, "usage": 3, "unknown": 3},
    "npd": {"pass": 0, "warn": 0, "fail": 1, "usage": 2, "unknown": 2},
    "docker": {"pass": 0, "warn": 0, "fail": 1, "usage": 1, "unknown": 1},
}


def state(report: Report) -> str:
    """The verdict as exit styles count it: "fail" also for warnings under --strict."""
    return "fail" if report.verdict is Verdict.WARN and report.exit_code else report.verdict.value


def warnings_fail(report: Report) -> bool:
    """Whether the run was asked to count warnings as faults (--strict)."""
    return bool((report.facts.get("request") or {}).get("strict")) or (report.verdict is Verdict.WARN and report.exit_code != 0)


def exit_code(report: Report, style: str) -> int:
    """The exit status of a run in a style of ``EXIT_STYLES``."""
    return report.exit_code if style == "default" else EXIT_STYLES[style][state(report)]


def roots(report: Report) -> list[Diagnosis]:
    """The findings that count and follow from no other that does: errors first, otherwise in the report's order."""
    silent = {finding.code for finding in muted(report)}
    found = [
        finding
        for finding in report.findings
        if finding.code not in silent and (finding.explained_by is None or finding.explained_by in silent)
    ]
    return sorted(found, key=lambda finding: finding.severity is not Severity.ERROR)


def muted(report: Report) -> list[Diagnosis]:
    """The findings that the user knows of and that don't count for now."""
    return [finding for finding in report.findings if finding.muted is not None]


def followers(report: Report, root: Diagnosis) -> list[Diagnosis]:
    """The findings that a root cause explains."""
    return [finding for finding in report.findings if finding.explained_by == root.code]


def outcomes(report: Report) -> list[Outcome]:
    """What became of the rules that this run had a question for: those of expectations only where some were given."""
    return [outcome for outcome in report.outcomes if outcome.reason != NONE_GIVEN]


def unchecked(report: Report) -> list[Outcome]:
    """The rules that could not look, and those that crashed."""
    return [outcome for outcome in outcomes(report) if outcome.status in (Status.SKIPPED, Status.CRASHED)]


def gaps(report: Report) -> list[str]:
    """How many those are: "3 not checked", "1 check crashed"; empty where every rule could look."""
    skipped, crashed = (
        sum(outcome.status is status for outcome in unchecked(report)) for status in (Status.SKIPPED, Status.CRASHED)
    )
    return [f"{skipped:,} not checked"] * bool(skipped) + [f"{plural(crashed, 'check')} crashed"] * bool(crashed)


def headline(report: Report) -> str:
    """The sentence to read if only one is read: the root cause, why there is no verdict, or what was proved."""
    first = next(iter(roots(report)), None)
    if report.verdict is Verdict.UNKNOWN:
        return f"No verdict: {next(iter(report.unknown_because), 'no reason given')}"
    return first.summary if first is not None else proved(report)


def proved(report: Report) -> str:
    """What a run without errors showed, and never more than that."""
    facts = report.facts
    request = facts.get("request") or {}
    cpu_only = "the CPU only (--allow-cpu): no accelerator was found"
    accelerator = gpu_count(facts) or (facts.get("tpu") or {}).get("expected")
    if not report.training:
        scope = "" if accelerator else f", for {cpu_only}"
        if request.get("level") == Level.QUICK:
            framework = TITLES[request.get("backend") or "tensorflow"]
            return f"No fault found by the quick checks{scope}; {framework} and training were not looked at (--quick)."
        return f"No fault found{scope}; training was not looked at" + ("." if request.get("smoke", True) else " (--no-smoke).")
    passed = [run for run in report.training if run.status == "passed"]
    other = next((TITLES.get(run.backend) for run in passed if run.backend != "tensorflow"), None)
    by = f" by Keras on {other}" if other else ""
    how = ", ".join(dict.fromkeys(run.strategy for run in passed)) or "nothing"
    trained = sorted({name for run in passed for name in run.devices if not name.startswith("CPU")}, key=_numbered)
    if not trained:
        found = f"the CPU only: {gpu_names(facts) or 'an accelerator'} was found, and not trained"
        return f"Ready for {found if accelerator else cpu_only}; {how} trained on the CPU{by}."
    agree = ", replicas agree" if any(run.replicas > 1 and run.replicas_equal for run in passed) else ""
    total = gpu_count(facts)
    names = gpu_names(facts) or devices(tuple(trained))
    if total > len(trained):
        return f"Ready on {len(trained)} of {names}: {devices(tuple(trained))} trained{by} ({how}){agree}."
    if other:
        return f"Ready: Keras on {other} trained on {'all of ' if len(trained) > 1 else ''}{names} ({how}){agree}."
    return f"Ready: {names}{', all' if len(trained) > 1 else ''} trained ({how}){agree}."


def _numbered(name: str) -> tuple[str, int]:
    kind, _, number = name.rpartition(":")
    return kind, int(number) if number.isdigit() else 0
