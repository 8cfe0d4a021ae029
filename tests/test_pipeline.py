"""Observing, judging, folding and deciding, with small probes and rules defined here."""

import threading
import time

import pytest
from fakes import FakeHost, facts, machine, readings
from msgspec.structs import replace

from gpucheck.core.engine.judgement import EXPECTATION, fold, judge
from gpucheck.core.engine.observation import Observation
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.model import (
    Action,
    Expectations,
    Fact,
    Finding,
    Fix,
    Level,
    ProbeStatus,
    Reading,
    Request,
    Scope,
    Severity,
    Skip,
    Status,
    Verdict,
    saw,
)
from gpucheck.core.model.fact import Facts
from gpucheck.core.model.plugin import Need, Probe, Row, Rule
from gpucheck.core.probes.training import Training


class Thing(Fact, frozen=True, kw_only=True):
    size: int = 1


def probe(read, name="thing", level=Level.QUICK, smoke=False):
    return Probe(name=name, level=level, smoke=smoke, fact=Thing, read=read)


def rule(code, result, *, severity=Severity.ERROR, scope=Scope.HOST, explains=(), needs=()):
    def check(**_):
        if isinstance(result, Exception):
            raise result
        return result

    return Rule(code, "row", severity, scope, explains, needs, check, "")


def found(summary="it is so"):
    return Finding(summary=summary, evidence=saw(Thing(), "size"), fix=(Fix(text="do"),))


@pytest.mark.parametrize("action", Action)
def test_severity_of_a_finding_follows_from_its_action(action):
    made = replace(found(), action=action)
    (diagnosis,) = fold(judge(Facts([]), [rule("a", made, severity=Severity.WARNING)], ()), ROWS)
    no_new_job = action in (Action.DRAIN, Action.RESET_GPU, Action.REBOOT, Action.POWER_CYCLE, Action.SERVICE)
    assert (diagnosis.action, diagnosis.severity) == (action, Severity.ERROR if no_new_job else Severity.WARNING)
    with pytest.raises(ValueError, match=f"the action {action.value} is not of severity"):
        replace(found(), action=action, severity=Severity.WARNING if no_new_job else Severity.ERROR)


ROWS = {"row": Row("a problem", "a first check", "an action")}


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_probes_are_read_although_no_more_threads_can_be_started(monkeypatch, allowed):
    start, started = threading.Thread.start, []

    def refused(thread):
        if len(started) >= allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    taken = Observation(FakeHost(), [probe(lambda host: Thing(), name=f"p{number}") for number in range(4)]).wait()
    assert [reading.status for reading in taken] == [ProbeStatus.OK] * 4


def test_probe_with_its_own_limit_times_out_at_that_limit():
    blocked = threading.Event()
    slow = replace(probe(lambda host: blocked.wait(30) and Thing()), limit_seconds=0.2)
    (reading,) = Observation(FakeHost(remaining=20.0), [slow]).wait()
    assert reading.status is ProbeStatus.TIMED_OUT
    assert not blocked.is_set()
    blocked.set()


def test_probes_run_concurrently():
    barrier = threading.Barrier(3, timeout=10)

    def read(host):
        barrier.wait()
        return Thing()

    got = Observation(FakeHost(), [probe(read, name) for name in "abc"]).wait()
    assert [reading.status for reading in got] == [ProbeStatus.OK] * 3


def test_failed_probe_does_not_affect_others():
    def broken(host):
        raise OSError("no such bus")

    got = Observation(FakeHost(), [probe(broken, "a"), probe(lambda host: Thing(), "b")]).wait()
    assert [(reading.probe, reading.status, reading.problem) for reading in got] == [
        ("a", ProbeStatus.FAILED, "OSError: no such bus"),
        ("b", ProbeStatus.OK, None),
    ]


def test_late_probe_is_reported_as_timed_out():
    class Hurried(FakeHost):
        deadline = time.monotonic() + 0.3

        def remaining(self):
            return max(0.0, self.deadline - time.monotonic())

    began = time.monotonic()
    (reading,) = Observation(Hurried(), [probe(lambda host: time.sleep(30))]).wait()
    assert time.monotonic() - began < 5
    assert reading.status is ProbeStatus.TIMED_OUT
    assert reading.problem.startswith("did not respond within")


def test_probes_are_skipped_by_level_and_no_smoke():
    host = FakeHost(request=Request(level=Level.DEFAULT, smoke=False))
    got = Observation(host, [probe(None, "full", Level.FULL), probe(None, "training", Level.DEFAULT, smoke=True)]).wait()
    assert [(reading.status, reading.problem) for reading in got] == [
        (ProbeStatus.SKIPPED, "only with --full"),
        (ProbeStatus.SKIPPED, "not checked with --no-smoke"),
    ]


def test_tick_gets_the_names_of_pending_probes():
    gate = threading.Event()
    seen = []

    def tick(pending):
        seen.append(pending)
        gate.set()

    Observation(FakeHost(), [probe(lambda host: (gate.wait(10), Thing())[1], "slow")]).wait(tick)
    assert seen[0] == ["slow"]


@pytest.mark.parametrize(
    ("result", "status", "reason"),
    [
        (None, Status.CLEAR, None),
        (Skip("no sysfs"), Status.SKIPPED, "no sysfs"),
        (found(), Status.FOUND, None),
        (KeyError("x"), Status.CRASHED, "KeyError: 'x'"),
    ],
)
def test_outcome_of_each_kind_of_result(result, status, reason):
    (judgement,) = judge(Facts([]), [rule("a", result)])
    assert (judgement.outcome.status, judgement.outcome.reason) == (status, reason)


def test_rule_without_its_fact_is_skipped_with_the_problem_of_the_probe():
    need = Need(name="training", fact=Training, optional=False)
    late = Reading(probe="training", status=ProbeStatus.TIMED_OUT, problem="did not respond within 9 s")
    (judgement,) = judge(Facts([late]), [rule("a", found(), needs=(need,))])
    assert judgement.outcome.status is Status.SKIPPED
    assert judgement.outcome.reason == "training: did not respond within 9 s"


def fold_codes(*rules):
    return [(item.code, item.explained_by) for item in fold(judge(Facts([]), rules), ROWS)]


def test_root_cause_comes_first_and_explains_a_chain_of_findings():
    assert fold_codes(
        rule("c", found()), rule("b", found(), explains=("c",)), rule("a", found(), explains=("b",), scope=Scope.ENVIRONMENT)
    ) == [("a", None), ("b", "a"), ("c", "a")]


def test_errors_come_before_warnings_and_lower_layers_before_higher_ones():
    assert fold_codes(
        rule("warning", found(), severity=Severity.WARNING, scope=Scope.HARDWARE),
        rule("environment", found(), scope=Scope.ENVIRONMENT),
        rule("hardware", found(), scope=Scope.HARDWARE),
    ) == [("hardware", None), ("environment", None), ("warning", None)]


def test_finding_is_explained_by_an_error_rather_than_a_warning():
    assert fold_codes(
        rule("effect", found()),
        rule("error", found(), explains=("effect",), scope=Scope.ENVIRONMENT),
        rule("warning", found(), explains=("effect",), severity=Severity.WARNING, scope=Scope.HARDWARE),
    ) == [("error", None), ("warning", None), ("effect", "error")]


def test_rules_that_explain_each_other_have_one_root_cause():
    assert fold_codes(
        rule("a", found(), explains=("b",), scope=Scope.ENVIRONMENT), rule("b", found(), explains=("a",), scope=Scope.HARDWARE)
    ) == [("b", None), ("a", "b")]


def report(plain=None, rules=(), request=None, **probes):
    plain = {**machine("laptop-cpu"), **probes} if plain is None else plain
    request = request or Request(allow_cpu=True)
    given = [reading for reading in readings(plain) if reading.probe != "request"]
    judgements = judge(facts(plain), rules)
    return assemble(request, given, judgements, ROWS, time.monotonic())


def test_error_fails():
    assert (report(rules=[rule("a", found())]).verdict, report(rules=[rule("a", found())]).exit_code) == (Verdict.FAIL, 1)


def test_warning_fails_only_with_strict():
    warning = rule("a", found(), severity=Severity.WARNING)
    assert report(rules=[warning]).exit_code == 0
    strict = report(rules=[warning], request=Request(allow_cpu=True, strict=True))
    assert (strict.verdict, strict.exit_code) == (Verdict.WARN, 1)


def test_crashed_rule_gives_no_verdict():
    got = report(rules=[rule("a", ValueError("bug"))])
    assert (got.exit_code, got.unknown_because) == (3, ("the rule a crashed (ValueError: bug); please report it",))


def test_unchecked_expectation_gives_no_verdict():
    skipped, request = rule("a", Skip("no sysfs")), Request(allow_cpu=True, expectations=Expectations())
    assert report(rules=[skipped], request=request).verdict is Verdict.PASS
    got = report(rules=[replace(skipped, row=EXPECTATION)], request=request)
    assert (got.verdict, got.unknown_because) == (Verdict.UNKNOWN, ("expectation not checked: no sysfs",))


def test_tensorflow_probes_and_rules_are_skipped_with_another_backend():
    request = Request(backend="torch")
    host = FakeHost(request=request)
    (got,) = Observation(host, [replace(probe(None, "tensorflow"), tensorflow=True)]).wait()
    assert (got.status, got.problem) == (ProbeStatus.SKIPPED, "not checked with --backend torch")
    plain = {**machine("laptop-jax"), "request": {"backend": "torch"}}
    (judgement,) = judge(facts(plain), [replace(rule("a", found()), tensorflow=True)])
    assert judgement.outcome.status is Status.SKIPPED
    assert judgement.outcome.reason == "about TensorFlow, which --backend torch excludes"
    (judgement,) = judge(facts({**plain, "request": {"backend": "tensorflow"}}), [replace(rule("a", found()), tensorflow=True)])
    assert judgement.outcome.status is Status.FOUND


def test_report_has_the_facts_and_the_request():
    got = report()
    assert got.facts["request"].allow_cpu is True
    assert got.facts["keras"].version == "3.15.1"
    assert "request" not in [run.name for run in got.probes]
