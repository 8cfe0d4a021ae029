"""The logs and lines of tests/cases/logs: each log gives its cause, each line its event. A test lists all errors of a file."""

import pytest
from log_cases import FOLDER, LINE_FILES, TOPICS, line_cases, log_cases, read_toml
from one_rule import log_findings

from gpucheck.core.logs.reading import parse, patterns


def errors(findings):
    return [finding.code for finding in findings if finding.severity.value == "error"]


def is_as_labelled(case, findings):
    named = [(finding.code, finding.severity.value) for finding in findings]
    if case.level == "error":
        return (
            named[:1] == [(case.code, "error")]
            and errors(findings) == [case.code]
            and findings[0].evidence != ()
            and findings[0].fix != ()
        )
    if case.level == "warning":
        return named == [(case.code, "warning")]
    return named == [] if case.level == "quiet" else errors(findings) == []


@pytest.mark.parametrize("topic", TOPICS)
def test_logs_give_their_labelled_cause(topic):
    wrong = []
    for case in log_cases(topic):
        findings = log_findings(case.text)
        if not is_as_labelled(case, findings):
            wrong.append((case.name, case.level, case.code, [(item.code, item.severity.value) for item in findings]))
    assert wrong == []


@pytest.mark.parametrize("topic", TOPICS)
def test_every_log_has_a_label(topic):
    names = [case.name for case in log_cases(topic)]
    assert len(set(names)) == len(names)
    assert {path.name for path in FOLDER.joinpath("texts", topic).glob("*.log")} <= set(names)


@pytest.mark.parametrize("file", LINE_FILES)
def test_lines_give_their_event(file):
    wrong = []
    for case in line_cases(file):
        events = parse(case.text.split("\n"), "test").events
        given = [event for event in events if event.kind == case.kind]
        if case.fields is None:
            fits = given == []
        else:
            fits = given != [] and case.fields.items() <= given[0].fields.items() and (given[0].line == 1 or "\n" in case.text)
        no_strings = [event for event in events for value in event.fields.values() if not (isinstance(value, str) and value)]
        if not fits or no_strings:
            wrong.append((case, [(event.kind, event.line, event.fields) for event in events]))
    assert wrong == []


def test_every_kind_of_event_has_positive_and_negative_lines():
    cases = [case for file in LINE_FILES for case in line_cases(file)]
    giving = [case.kind for case in cases if case.fields is not None]
    kinds = {pattern.kind for pattern in patterns.load()}
    assert kinds == set(giving) == {case.kind for case in cases if case.fields is None}
    assert [kind for kind in sorted(kinds) if giving.count(kind) < 2] == []


def what_is_missing(case):
    findings = log_findings(case["text"])
    first = findings[0]
    steps = [f"{step.text} {step.command or ''}" for step in first.fix]
    if case.get("codes") not in (None, [finding.code for finding in findings]):
        yield "codes", [finding.code for finding in findings]
    if list(first.affects) != case.get("affects", list(first.affects)):
        yield "affects", first.affects
    if not all(part in first.summary for part in case.get("summary", ())):
        yield "summary", first.summary
    if not all(part in " ".join(steps) for part in case.get("fix", ())) or case.get("first_fix", "") not in steps[0]:
        yield "fix", steps


def test_findings_have_the_values_and_commands_of_their_logs():
    wrong = [(case["text"], missing) for case in read_toml(FOLDER / "findings.toml")["log"] for missing in what_is_missing(case)]
    assert wrong == []
