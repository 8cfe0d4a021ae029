"""Which probes could look: one whose child process ended before it could answer has a fact that says just that."""

from typing import Any

from gpucheck.model import ProbeRun, ProbeStatus, Report


def looked(report: Report, run: ProbeRun) -> bool:
    """Whether a probe could look at what it is for."""
    return run.status is ProbeStatus.OK and unanswered(report, run) is None


def unanswered(report: Report, run: ProbeRun) -> str | None:
    """Why a probe that ran to its end has no answer: how its child ended, and in which stage. None: it has one."""
    fact = report.facts.get(run.name)
    if run.status is not ProbeStatus.OK or not isinstance(fact, dict):
        return None
    if run.name in ("tensorflow", "backend"):
        return _ended(fact) if fact.get("devices") is None else None
    if run.name == "keras":
        return str(fact.get("error") or "no answer") if fact.get("imported") is None else None
    if run.name == "training":
        return None if fact.get("runs") else _ended(fact)
    return None


def _ended(fact: dict[str, Any]) -> str | None:
    """A child that gave its account and finished, of a failed import too, has no such ending."""
    if fact.get("ending") is None:
        return None
    return f"{fact['ending']} in the stage {fact['stage']}" if fact.get("stage") else str(fact["ending"])
