"""The steps of a run: observe a host, judge the facts, assemble the report. They print nothing."""

import datetime
import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from gpucheck import __version__
from gpucheck.core.engine.derivation import Missing, arguments, derive
from gpucheck.core.engine.discovery import load_combiners, load_probes, load_rows, load_rules
from gpucheck.core.engine.facts import Facts
from gpucheck.core.engine.observation import Observation, Tick, unwanted
from gpucheck.core.engine.verdict import decide, mute
from gpucheck.core.host import Host
from gpucheck.core.model import (
    Diagnosis,
    ExitCode,
    Finding,
    Level,
    Outcome,
    ProbeRun,
    ProbeStatus,
    Reading,
    Report,
    Request,
    Scope,
    Severity,
    Skip,
    Status,
    Tool,
    Verdict,
    repairs_first,
)
from gpucheck.core.model.plugin import NOT_OF_NODE, Combiner, Probe, Row, Rule
from gpucheck.core.model.progress import Progress
from gpucheck.core.repairs.choice import choose
from gpucheck.core.repairs.context import Context
from gpucheck.core.system import integrity, ulimits

SCOPES = tuple(Scope)
TIMED_OUT = "gpucheck was ended at its time limit: a file system or driver did not respond"
EXPECTATION = "expectation"  # the row of the rules that check the user's expectations


class Judgement(msgspec.Struct, frozen=True):
    """The outcome of one rule, and its finding if there is one."""

    rule: Rule
    outcome: Outcome
    finding: Finding | None


def observe(host: Host, probes: Iterable[Probe], tick: Tick | None = None) -> list[Reading]:
    """Run the probes at the same time; a failed probe does not affect the others.

    Args:
        host: the machine; ``host.request`` selects the probes, ``host.remaining()`` is their time limit.
        probes: candidates.
        tick: called about ten times a second with the names of the probes that still run.

    Returns:
        One reading per probe, in their order; the reading of a probe that raised or timed out gives the reason.
    """
    return Observation(host, probes).wait(tick)


class _Partial:
    """The findings of a run so far. Another thread may call ``report`` at any time."""

    def __init__(self, request: Request, observation: Observation, started: float) -> None:
        """Start without judgements; ``started`` is ``time.monotonic()`` at the run's start."""
        self.rules: tuple[Rule, ...] = ()
        self.judgements: list[Judgement] = []  # in the order of the rules
        self._request, self._observation, self._started = request, observation, started

    def report(self) -> Report:
        """Return a complete report with the verdict "unknown"; rules that have not run are skipped."""
        rules, judged = self.rules or load_rules(), list(self.judgements)  # on a busy machine the rules may not be loaded yet
        rest = [_judgement(rule, Status.SKIPPED, TIMED_OUT) for rule in rules[len(judged) :]]
        report = assemble(self._request, self._observation.readings(), [*judged, *rest], load_rows(), self._started)
        because = (TIMED_OUT, *report.unknown_because)
        return msgspec.structs.replace(report, verdict=Verdict.UNKNOWN, exit_code=ExitCode.UNKNOWN, unknown_because=because)


def diagnose(host: Host, started: float, tick: Tick | None = None, progress: Progress[Report] | None = None) -> Report:
    """Do a complete run: observe the host with all probes, judge with all rules.

    Args:
        host: the machine; ``host.request`` is what the user asked for.
        started: ``time.monotonic()`` at the run's start.
        tick: see ``observe``.
        progress: its snapshot becomes the partial report.

    Raises:
        Damaged: this installation of gpucheck was replaced during the run.
    """
    problem = ulimits.open_files_problem()
    if problem is not None:
        return _limits_only(host, started, problem)
    observation = Observation(host, load_probes())
    partial = _Partial(host.request, observation, started)
    if progress is not None:
        progress.snapshot = partial.report
    partial.rules, rows = load_rules(), load_rows()  # while the children run
    readings = observation.wait(tick)
    judge(gather(host.request, readings), partial.rules, into=partial.judgements)
    integrity.verify_unchanged()
    return assemble(host.request, readings, partial.judgements, rows, started)


def _limits_only(host: Host, started: float, why: str) -> Report:
    """Run only the probe of the limits: with too few open files, any other probe could fail at any moment."""
    probes, rules, rows = load_probes(), load_rules(), load_rows()
    readings = Observation(host, [probe for probe in probes if probe.name == "limits"]).wait()
    for probe in probes:
        reason = unwanted(probe, host.request)
        if probe.name != "limits":
            status = ProbeStatus.FAILED if reason is None else ProbeStatus.SKIPPED
            readings.append(Reading(probe=probe.name, status=status, problem=reason or why))
    return assemble(host.request, readings, judge(gather(host.request, readings), rules), rows, started)


def judge(
    facts: Facts,
    rules: Iterable[Rule],
    combiners: Iterable[Combiner] | None = None,
    into: list[Judgement] | None = None,
) -> list[Judgement]:
    """Derive facts, then apply the rules. A rule whose facts are missing is skipped, never clear.

    Args:
        facts: the probes' facts and the request.
        rules: the rules to apply; each gets a judgement.
        combiners: in the order of their dependencies; None: all.
        into: a list to append each judgement to, which is returned; None: a new one.
    """
    judgements = [] if into is None else into
    derived = derive(facts, load_combiners() if combiners is None else combiners)
    for rule in rules:
        judgements.append(_apply(rule, derived))
    return judgements


def fold(judgements: Sequence[Judgement], rows: dict[str, Row]) -> tuple[Diagnosis, ...]:
    """Find the root cause of each finding among the others, and sort: root causes first, explained findings last."""
    findings = {judgement.rule.code: judgement for judgement in judgements if judgement.finding is not None}
    roots = {code: _root(code, findings) for code in findings}
    weight = {code: sum(root == code for root in roots.values()) for code in findings}

    def rank(diagnosis: Diagnosis) -> tuple[bool, bool, bool, int, int, str]:
        return (
            diagnosis.explained_by is not None,
            diagnosis.severity is not Severity.ERROR,
            diagnosis.row == EXPECTATION,  # a fault matters more than an unmet expectation
            SCOPES.index(diagnosis.scope),
            -weight[diagnosis.code],
            diagnosis.code,
        )

    diagnoses = (
        _diagnosis(judgement.rule, judgement.finding, rows, None if roots[code] == code else roots[code])
        for code, judgement in findings.items()
        if judgement.finding is not None
    )
    return tuple(sorted(diagnoses, key=rank))


def assemble(
    request: Request, readings: list[Reading], judgements: list[Judgement], rows: dict[str, Row], started: float
) -> Report:
    """Assemble the report; ``started`` is ``time.monotonic()`` at the run's start."""
    facts = gather(request, readings)
    findings = fold(judgements, rows)
    outcomes = tuple(judgement.outcome for judgement in judgements)
    unchecked: list[str] = []
    if request.expectations is not None:
        findings = mute(findings, request.expectations.mute, datetime.datetime.now(datetime.timezone.utc).date())
    if request.expectations is not None or request.promised is not None:
        unchecked = [f"expected, and not seen: {reason}" for reason in _unchecked(judgements)]
    decision = decide(request, facts, findings, outcomes, unchecked)
    seconds = time.monotonic() - started
    began = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    return Report(
        tool=Tool(version=__version__),
        started_at=began.isoformat(timespec="seconds").replace("+00:00", "Z"),
        seconds=round(seconds, 3),
        verdict=decision.verdict,
        exit_code=decision.exit_code,
        unknown_because=decision.unknown_because,
        findings=findings,
        training=tuple(_proof(facts, "runs")),
        experiments=tuple(_proof(facts, "experiments")),
        probes=tuple(
            ProbeRun(name=reading.probe, status=reading.status, seconds=reading.seconds, problem=reading.problem)
            for reading in readings
        ),
        outcomes=outcomes,
        facts={reading.probe: reading.fact for reading in facts if reading.fact is not None},
    )


def _unchecked(judgements: Iterable[Judgement]) -> list[str]:
    """Return why expectations could not be checked; they never count as met."""
    return [
        judgement.outcome.reason or "no reason given"
        for judgement in judgements
        if judgement.rule.row == EXPECTATION and judgement.outcome.status is Status.SKIPPED
    ]


def gather(request: Request, readings: Iterable[Reading]) -> Facts:
    """Return the facts to judge: those of the probes, and the request."""
    return Facts([*readings, Reading(probe="request", status=ProbeStatus.OK, fact=request)])


def _apply(rule: Rule, facts: Facts) -> Judgement:
    request = facts.get(Request)
    if request is not None and (why := _excluded(rule, request)) is not None:
        return _judgement(rule, Status.SKIPPED, why)
    given = arguments(rule.needs, facts)
    if isinstance(given, Missing):
        return _judgement(rule, Status.CRASHED if given.crashed else Status.SKIPPED, given.reason)
    try:
        result = rule.check(**given)
    except Exception as error:  # a bug of gpucheck must not affect the other rules
        return _judgement(rule, Status.CRASHED, f"{type(error).__name__}: {error}")
    if result is None:
        return _judgement(rule, Status.CLEAR)
    if isinstance(result, Skip):
        return _judgement(rule, Status.SKIPPED, result.reason)
    context = facts.get(Context)
    if context is not None:
        result = msgspec.structs.replace(result, fix=choose(result.fix, context))
    return _judgement(rule, Status.FOUND, finding=result)


def _excluded(rule: Rule, request: Request) -> str | None:
    """Return why the request excludes a rule; None if it includes it."""
    if rule.tensorflow and request.other_backend:
        return f"about TensorFlow, which --backend {request.other_backend} leaves out"
    if request.level is Level.NODE and not (rule.of_node or rule.row == EXPECTATION):
        return NOT_OF_NODE
    return None


def _judgement(rule: Rule, status: Status, reason: str | None = None, finding: Finding | None = None) -> Judgement:
    return Judgement(rule, Outcome(code=rule.code, status=status, reason=reason), finding)


def _root(code: str, findings: dict[str, Judgement]) -> str:
    visited = {code}
    while True:
        causes = (other for other in findings if other not in visited and _explains(findings[other], findings[code]))
        cause = min(causes, key=lambda other: (SCOPES.index(findings[other].rule.scope), other), default=None)
        if cause is None:
            return code
        visited.add(cause)
        code = cause


def _explains(cause: Judgement, effect: Judgement) -> bool:
    excluded = effect.finding.not_explained_by if effect.finding is not None else ()
    code = effect.rule.code
    return code in cause.rule.explains and cause.rule.code not in excluded and _precedes(cause.rule, effect.rule)


def _precedes(cause: Rule, effect: Rule) -> bool:
    """Decide between rules that explain each other: the lower scope is the cause, then the earlier code."""
    if cause.code not in effect.explains:
        return True
    return (SCOPES.index(cause.scope), cause.code) < (SCOPES.index(effect.scope), effect.code)


def _diagnosis(rule: Rule, finding: Finding, rows: dict[str, Row], explained_by: str | None) -> Diagnosis:
    return Diagnosis(
        code=rule.code,
        row=rule.row,
        severity=finding.severity or rule.severity,
        scope=rule.scope,
        summary=finding.summary,
        evidence=finding.evidence,
        first_check=rows[rule.row].first_check,
        fix=repairs_first(finding.fix),
        affects=finding.affects,
        assignments=finding.assignments,
        explained_by=explained_by,
    )


def _proof(facts: Facts, field: str) -> tuple[Any, ...]:
    reading = facts.reading("training")
    return tuple(getattr(reading.fact, field, ())) if reading is not None else ()
