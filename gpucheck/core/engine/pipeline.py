"""The steps of a run: observe a host, judge the facts, assemble the report. They print nothing."""

import datetime
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from gpucheck import __version__
from gpucheck.core.engine.discovery import load_probes, load_rows, load_rules
from gpucheck.core.engine.judgement import EXPECTATION, Judgement, fold, judge, judgement_of
from gpucheck.core.engine.observation import Observation, Tick, why_excluded
from gpucheck.core.engine.verdict import decide, mute
from gpucheck.core.host import Host
from gpucheck.core.model import ExitCode, ProbeRun, ProbeStatus, Reading, Report, Request, Status, Tool, Verdict
from gpucheck.core.model.fact import Facts
from gpucheck.core.model.plugin import Row, Rule
from gpucheck.core.model.progress import Progress
from gpucheck.core.system import integrity, ulimits

TIMED_OUT = "gpucheck was ended at its time limit: a file system or driver did not respond, or the processors are busy"


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
        rest = [judgement_of(rule, Status.SKIPPED, TIMED_OUT) for rule in rules[len(judged) :]]
        report = assemble(self._request, self._observation.readings(), [*judged, *rest], load_rows(), self._started)
        because = (TIMED_OUT, *report.unknown_because)
        return msgspec.structs.replace(report, verdict=Verdict.UNKNOWN, exit_code=ExitCode.UNKNOWN, unknown_because=because)


def diagnose(host: Host, started: float, tick: Tick | None = None, progress: Progress[Report] | None = None) -> Report:
    """Do a complete run: observe the host with all probes, judge with all rules.

    Args:
        host: the machine; ``host.request`` is what the user requested.
        started: ``time.monotonic()`` at the run's start.
        tick: see ``Observation.wait``.
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
        reason = why_excluded(probe, host.request)
        if probe.name != "limits":
            status = ProbeStatus.FAILED if reason is None else ProbeStatus.SKIPPED
            readings.append(Reading(probe=probe.name, status=status, problem=reason or why))
    return assemble(host.request, readings, judge(gather(host.request, readings), rules), rows, started)


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
        unchecked = [f"expectation not checked: {reason}" for reason in _unchecked(judgements)]
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


def _proof(facts: Facts, field: str) -> tuple[Any, ...]:
    reading = facts.reading("training")
    return tuple(getattr(reading.fact, field, ())) if reading is not None else ()
