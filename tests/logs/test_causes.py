"""Causes: rows of the table, later successes, inferences from several lines, and statements in a text."""

import inspect

import pytest
from case_files import table

from gpucheck.commands.explain.table import load_rules
from gpucheck.core.logs import causes
from gpucheck.core.logs.causes.cause import Match, Row, sentence
from gpucheck.core.logs.causes.events import Events, Later
from gpucheck.core.logs.causes.startup import infer_startup_failure
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.log import Log
from gpucheck.core.logs.reading import parse


def event(kind, line=1, text="a line", **fields):
    return Event(kind=kind, line=line, text=text, fields=fields)


def log(*events):
    return Log(source="test", events=events, lines=len(events))


@table
def test_sentence_contains_the_fields_of_the_events(template, words):
    events = [event("x", text="It hung.", process="python", path="a"), event("x", path="b"), event("x", path="a")]
    assert sentence(template, events) == words


def test_sentence_with_a_missing_field_raises_key_error():
    with pytest.raises(KeyError):
        sentence("{name} hung", [event("x")])


@table
def test_match_checks_the_kind_the_fields_and_the_line(match, fields, is_one):
    assert Match(*match, **fields)(event("xid", text="GPU has fallen off the bus", code="79")) is is_one


@table
def test_later_success_cancels_an_alarm(later, after, stands):
    row = Row("a-code", "It hung.", Match("driver-hung"), later=Later[later])
    assert (row(Events(log(event("driver-hung"), event(after, 2)))) is not None) is stands


def test_row_cites_related_events():
    row = Row("a-code", "Refused in mode {mode}.", Match("cuinit-failed"), also_cite="compute-mode")
    cause = row(Events(log(event("compute-mode", 1, mode="Prohibited"), event("cuinit-failed", 2))))
    assert (cause.summary, [cited.line for cited in cause.events]) == ("Refused in mode Prohibited.", [2, 1])


def test_row_names_what_is_affected():
    row = Row("a-code", "Ignored.", Match("gpu-ignored"), affects="[GPU {device}]")
    assert row(Events(log(event("gpu-ignored", device="1"), event("gpu-ignored", 2)))).affects == ("GPU 1",)


def test_cause_with_several_rows_uses_the_first_error():
    warning, first, second = event("locked-memory-limit", 1), event("file-size-limit", 3), event("thread-limit", 9)
    (cause,) = causes.judge(log(warning, first, second)).values()
    assert "size of a file" in cause.summary


def test_cause_cites_each_line_once_and_at_most_four():
    events = [event("replicas-diverged", line) for line in (1, 1, 2, 3, 4, 5)]
    assert [cited.line for cited in causes.judge(log(*events))["replicas-diverged"].events] == [1, 2, 3, 4]


@table
def test_summary_ends_with_one_full_stop(path, summary):
    (cause,) = causes.judge(log(event("device-node-missing", path=path))).values()
    assert cause.summary.endswith(summary)


def test_crash_is_a_cause_only_without_another_cause():
    crash = event("killed", 2, "Segmentation fault", signal="SIGSEGV")
    assert list(causes.judge(log(crash))) == ["training-crashed"]
    assert list(causes.judge(log(event("nccl-failed"), crash))) == ["nccl-failed"]


def test_inference_runs_once():
    calls = []

    def infer(events):
        calls.append(events)

    events = Events(log())
    assert (events.infer(infer), events.infer(infer), len(calls)) == (None, None, 1)


@table
def test_failures_of_cuda_init_are_distinguished_by_other_lines(lines, code):
    failure = infer_startup_failure(Events(parse(lines, "test")))
    assert (failure and failure.code) == code


def test_every_cause_has_a_rule():
    assert causes.CODES - {rule.code for rule in load_rules()} == set()


def test_public_functions_that_return_a_cause_match_the_inferred_codes():
    functions = [value for module in causes.MODULES for value in vars(module).values() if inspect.isfunction(value)]
    judges = {f.__name__ for f in functions if "Cause" in str(f.__annotations__.get("return")) and f.__name__[0] != "_"}
    assert judges == {code.replace("-", "_") for code in causes.INFERRED}
