"""The verbs: observe a host, judge the facts, and put a report together. They print nothing."""

import datetime
import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from gpucheck import __version__
from gpucheck.core.engine.derivation import Missing, arguments, derive
from gpucheck.core.engine.facts import Facts
from gpucheck.core.engine.observation import Observation, Tick, unwanted
from gpucheck.core.engine.plugin import (
    NOT_OF_NODE,
    Combiner,
    Probe,
    Row,
    Rule,
    load_combiners,
    load_probes,
    load_rows,
    load_rules,
)
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
from gpucheck.core.model.progress import Progress
from gpucheck.core.system import integrity, ulimits

SCOPES = tuple(Scope)
TIMED_OUT = "gpucheck was ended at its time limit: something that it waited for did not answer"
EXPECTATION = "expectation"  # the row whose rules judge what the user expects


class Judgement(msgspec.Struct, frozen=True):
    """What became of one rule, with its finding if it found something."""

    rule: Rule
    outcome: Outcome
    finding: Finding | None


def observe(host: Host, probes: Iterable[Probe], tick: Tick | None = None) -> list[Reading]:
    """Run the probes at the same time, each failing alone.

    Args:
        host: the machine; ``host.request`` says which probes are wanted and ``host.remaining()`` how long they have.
        probes: candidates.
        tick: called some ten times a second with the names still being waited for.

    Returns:
        One reading per probe, in their order. A probe that raised, or did not answer in time, says so in its reading.
    """
    return Observation(host, probes).wait(tick)


class _Partial:
    """What a run has found so far. Another thread may ask for the report at any time."""

    def __init__(self, request: Request, observation: Observation, started: float) -> None:
        """Nothing is judged yet; ``started`` is ``time.monotonic()`` of the run's start."""
        self.rules: tuple[Rule, ...] = ()
        self.judgements: list[Judgement] = []  # in the order of the rules
        self._request, self._observation, self._started = request, observation, started

    def report(self) -> Report:
        """A complete report, without a verdict: rules that have not run yet are skipped."""
        rules, judged = self.rules or load_rules(), list(self.judgements)  # a busy machine may not have come to them
        rest = [_judgement(rule, Status.SKIPPED, TIMED_OUT) for rule in rules[len(judged) :]]
        report = assemble(self._request, self._observation.readings(), [*judged, *rest], load_rows(), self._started)
        because = (TIMED_OUT, *report.unknown_because)
        return msgspec.structs.replace(report, verdict=Verdict.UNKNOWN, exit_code=ExitCode.UNKNOWN, unknown_because=because)


def diagnose(host: Host, started: float, tick: Tick | None = None, progress: Progress[Report] | None = None) -> Report:
    """The whole run: observe the host with every probe, judge with every rule.

    Args:
        host: the machine; ``host.request`` is what the user asked for.
        started: ``time.monotonic()`` of the run's start.
        tick: see ``observe``.
        progress: its snapshot becomes the partial report.

    Raises:
        Damaged: this installation of gpucheck was replaced during the run.
    """
    few = ulimits.too_few()
    if few is not None:
        return _starved(host, started, few)
    observation = Observation(host, load_probes())
    partial = _Partial(host.request, observation, started)
    if progress is not None:
        progress.snapshot = partial.report
    partial.rules, rows = load_rules(), load_rows()  # while the children run
    readings = observation.wait(tick)
    judge(gather(host.request, readings), partial.rules, into=partial.judgements)
    integrity.verify_unchanged()
    return assemble(host.request, readings, partial.judgements, rows, started)


def _starved(host: Host, started: float, why: str) -> Report:
    """The limits alone, and one thing after the other: whatever else is begun could run out of open files at any moment."""
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
    """Derive facts from facts, then apply every rule whose facts are there. A rule without them is skipped, never clear.

    Args:
        facts: what the probes read, and what the user asked for.
        rules: which of them; each has its judgement.
        combiners: in the order in which they need each other; None: all.
        into: a list that grows by each judgement, and is returned.
    """
    judgements = [] if into is None else into
    whole = derive(facts, load_combiners() if combiners is None else combiners)
    for rule in rules:
        judgements.append(_apply(rule, whole))
    return judgements


def fold(judgements: Sequence[Judgement], rows: dict[str, Row]) -> tuple[Diagnosis, ...]:
    """Name each finding's root cause among the others and sort: root cause first, what it explains last."""
    findings = {judgement.rule.code: judgement for judgement in judgements if judgement.finding is not None}
    roots = {code: _root(code, findings) for code in findings}
    weight = {code: sum(root == code for root in roots.values()) for code in findings}

    def rank(diagnosis: Diagnosis) -> tuple[bool, bool, bool, int, int, str]:
        return (
            diagnosis.explained_by is not None,
            diagnosis.severity is not Severity.ERROR,
            diagnosis.row == EXPECTATION,  # what is broken says more than what is different
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
    """Put the report together; ``started`` is ``time.monotonic()`` of the run's start."""
    facts = gather(request, readings)
    findings = fold(judgements, rows)
    outcomes = tuple(judgement.outcome for judgement in judgements)
    unseen: list[str] = []
    if request.expectations is not None:
        findings = mute(findings, request.expectations.mute, datetime.datetime.now(datetime.timezone.utc).date())
    if request.expectations is not None or request.promised is not None:
        unseen = [f"expected, and not seen: {reason}" for reason in _unseen(judgements)]
    decision = decide(request, facts, findings, outcomes, unseen)
    seconds = time.monotonic() - started
    begun = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    return Report(
        tool=Tool(version=__version__),
        started_at=begun.isoformat(timespec="seconds").replace("+00:00", "Z"),
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


def _unseen(judgements: Iterable[Judgement]) -> list[str]:
    """Why expectations could not be looked at: that is never "met"."""
    return [
        judgement.outcome.reason or "no reason given"
        for judgement in judgements
        if judgement.rule.row == EXPECTATION and judgement.outcome.status is Status.SKIPPED
    ]


def gather(request: Request, readings: Iterable[Reading]) -> Facts:
    """The facts to judge: what the probes read, and what the user asked for."""
    return Facts([*readings, Reading(probe="request", status=ProbeStatus.OK, fact=request)])


def _apply(rule: Rule, facts: Facts) -> Judgement:
    request = facts.get(Request)
    if request is not None and (why := _left_out(rule, request)) is not None:
        return _judgement(rule, Status.SKIPPED, why)
    given = arguments(rule.needs, facts)
    if isinstance(given, Missing):
        return _judgement(rule, Status.CRASHED if given.crashed else Status.SKIPPED, given.reason)
    try:
        result = rule.check(**given)
    except Exception as error:  # our bug: it must not take the other rules' answers with it
        return _judgement(rule, Status.CRASHED, f"{type(error).__name__}: {error}")
    if result is None:
        return _judgement(rule, Status.CLEAR)
    if isinstance(result, Skip):
        return _judgement(rule, Status.SKIPPED, result.reason)
    return _judgement(rule, Status.FOUND, finding=result)


def _left_out(rule: Rule, request: Request) -> str | None:
    """Why a rule is not asked; None if it is."""
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
    return code in cause.rule.explains and cause.rule.code not in excluded and _blames(cause.rule, effect.rule)


def _blames(cause: Rule, effect: Rule) -> bool:
    """Two rules that claim to explain each other: the lower scope is the cause, then the earlier code."""
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
