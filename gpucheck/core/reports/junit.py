"""JUnit XML for CI servers: one case per rule and training run, and one for what could not be checked.

A failure is a finding or a failed training run; an error is a missing result. A skipped case is never reported as passed. Fleets
and lint runs write theirs with ``document``. Elements and attributes are those of Jenkins' and pytest's schemas (junit-10.xsd).
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from gpucheck.core.model import Diagnosis, Report, Severity, Status, TrainingRun
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.findings import outcomes, warnings_fail
from gpucheck.core.reports.shared.limited_text import line, plain
from gpucheck.core.reports.shared.training import why_not
from gpucheck.core.reports.shared.words import training_run

Tag = Literal["failure", "error", "skipped"]
_COUNTED: dict[str, Tag] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_TAGS: dict[str, Tag] = {"skipped": "skipped", "failed": "failure"}  # by a training run's status
HOST = "localhost"  # required by the schema; a report does not name its host


class Problem(NamedTuple):
    """Why a test case did not pass."""

    tag: Tag
    kind: str  # "warning", "timed_out"
    message: str
    text: str | None = None  # several lines; None: the message is enough


class Case(NamedTuple):
    """A test case; without a problem it passed."""

    group: str  # JUnit's class name
    name: str
    problem: Problem | None = None
    output: str = ""
    seconds: float | None = 0.0


class Suite(NamedTuple):
    """Test cases with common properties, and their duration (None: not measured)."""

    name: str
    cases: Sequence[Case]
    seconds: float | None = None
    attributes: Mapping[str, str] = {}
    properties: Mapping[str, str] = {}


def render(report: Report) -> str:
    """Render an XML document, without characters that XML forbids."""
    training_seconds = next((run.seconds for run in report.probes if run.name == "training"), 0.0)
    suites = [
        _suite("gpucheck.rules", list(_rules(report)), 0.0, report),
        _suite("gpucheck.training", list(_training(report)), training_seconds, report),
        _suite("gpucheck.run", [_run(report)], report.seconds, report),
    ]
    return document("gpucheck", suites, report.seconds)


def _suite(name: str, cases: list[Case], seconds: float, report: Report) -> Suite:
    started_at = line(report.started_at).removesuffix("Z")  # the schema has no time zone
    properties = {"verdict": report.verdict.value, "gpucheck": report.tool.version}
    return Suite(name, cases, seconds, {"timestamp": started_at, "hostname": HOST}, properties)


def _rules(report: Report) -> Iterator[Case]:
    findings = {finding.code: finding for finding in report.findings}
    strict = warnings_fail(report)
    for outcome in outcomes(report):
        case = Case("gpucheck.rules", outcome.code)
        if outcome.status is Status.FOUND and outcome.code in findings:
            yield _failed_case(case, findings[outcome.code], report, strict)
        elif outcome.status is Status.SKIPPED:
            yield case._replace(problem=Problem("skipped", "skipped", outcome.reason or "no reason given"))
        elif outcome.status is not Status.CLEAR:
            why = f"the rule returned no result: {outcome.reason or outcome.status.value}"
            yield case._replace(problem=Problem("error", outcome.status.value, why))
        else:
            yield case


def _failed_case(case: Case, finding: Diagnosis, report: Report, strict: bool) -> Case:
    lines = [finding.summary, *(evidence(item, report) for item in finding.evidence)]
    if finding.explained_by:
        lines.append(f"explained by {finding.explained_by}")
    for fix in finding.fix:
        lines += [f"{'look' if fix.kind == 'look' else 'do'}: {fix.text}", *([f"    {fix.command}"] if fix.command else [])]
    if finding.muted is not None:
        return case._replace(output="\n".join([f"muted: {finding.muted}", *lines]))
    if finding.severity is Severity.ERROR or strict:
        return case._replace(problem=Problem("failure", finding.severity.value, finding.summary, "\n".join(lines)))
    return case._replace(output="\n".join(["warning", *lines]))  # a warning is reported, and the case passes


def _training(report: Report) -> Iterator[Case]:
    names: dict[str, int] = {}
    for run in report.training:
        name = training_run(run) + (" XLA" if run.compiled else "")
        names[name] = names.get(name, 0) + 1
        problem = None if run.status == "passed" else Problem(_TAGS.get(run.status, "error"), run.status, why_not(run))
        yield Case("gpucheck.training", name if names[name] == 1 else f"{name} #{names[name]}", problem, seconds=_seconds(run))


def _run(report: Report) -> Case:
    """Return the case for what could not be checked; without it, such a run would look all green."""
    why = report.unknown_because
    problem = Problem("error", "unknown", why[0], "\n".join(why)) if why else None
    return Case("gpucheck.run", "everything was checked", problem, seconds=report.seconds)


def _seconds(run: TrainingRun) -> float:
    """Return the measured time: the first step, and the median of the others times their number."""
    return (run.first_step_seconds or 0.0) + (run.step_seconds or 0.0) * max((run.steps or 0) - 1, 0)


def document(name: str, suites: Sequence[Suite], seconds: float | None = None) -> str:
    """Render an XML document, without characters that XML forbids."""
    cases = [case for suite in suites for case in suite.cases]
    root = ElementTree.Element("testsuites", {"name": name, **_time(seconds), **_counts(cases)})
    root.extend(map(_element, suites))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _element(suite: Suite) -> ElementTree.Element:
    attributes = {"name": suite.name, **_counts(suite.cases), **_time(suite.seconds), **suite.attributes}
    element = ElementTree.Element("testsuite", attributes)
    if suite.properties:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in suite.properties.items():
            ElementTree.SubElement(properties, "property", name=name, value=line(value))
    element.extend(map(_case, suite.cases))
    return element


def _case(case: Case) -> ElementTree.Element:
    element = ElementTree.Element("testcase", {"classname": line(case.group), "name": line(case.name), **_time(case.seconds)})
    if case.problem is not None:
        tag, kind, message, text = case.problem
        problem = ElementTree.SubElement(element, tag, message=line(message), type=line(kind))
        problem.text = None if text is None else plain(text)
    if case.output:
        ElementTree.SubElement(element, "system-out").text = plain(case.output)
    return element


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    tags = [case.problem.tag for case in cases if case.problem is not None]
    return {"tests": str(len(cases)), **{name: str(tags.count(tag)) for name, tag in _COUNTED.items()}}


def _time(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"time": f"{seconds:.3f}"}
