"""JUnit XML as CI servers read it: a case per rule and per training run, and one for what could not be looked at.

Elements and attributes are those of Jenkins' and pytest's schemas (junit-10.xsd). A failure is a rule or a training run that
said no; an error is an answer that could not be had; skipped is never passed.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

from gpucheck.core.model import Diagnosis, Outcome, Report, Severity, Status, TrainingRun
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.findings import outcomes, warnings_fail
from gpucheck.core.reports.shared.limited_text import line, plain
from gpucheck.core.reports.shared.training import why_not
from gpucheck.core.reports.shared.words import training_run

HOST = "localhost"  # the value for a host that is not told


def render(report: Report) -> str:
    """An XML document. Characters that XML forbids are dropped."""
    suites = [
        _suite("gpucheck.rules", list(_rules(report)), 0.0, report),
        _suite("gpucheck.training", list(_training(report)), _training_seconds(report), report),
        _suite("gpucheck.run", [_run(report)], report.seconds, report),
    ]
    root = ElementTree.Element("testsuites", name="gpucheck", time=f"{report.seconds:.3f}")
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.extend(suites)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(name: str, cases: list[ElementTree.Element], seconds: float, report: Report) -> ElementTree.Element:
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=f"{seconds:.3f}",
        timestamp=line(report.started_at).removesuffix("Z"),  # the schema knows no time zone
        hostname=HOST,
    )
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (("verdict", report.verdict.value), ("gpucheck", report.tool.version)):
        ElementTree.SubElement(properties, "property", name=key, value=line(value))
    suite.extend(cases)
    return suite


def _rules(report: Report) -> Iterator[ElementTree.Element]:
    findings = {finding.code: finding for finding in report.findings}
    strict = warnings_fail(report)
    for outcome in outcomes(report):
        case = _case("gpucheck.rules", outcome.code)
        if outcome.status is Status.FOUND and outcome.code in findings:
            _add_finding(case, findings[outcome.code], report, strict)
        elif outcome.status is Status.SKIPPED:
            _add(case, "skipped", "skipped", outcome.reason or "no reason given")
        elif outcome.status is not Status.CLEAR:
            _add(case, "error", outcome.status.value, _crash(outcome))
        yield case


def _add_finding(case: ElementTree.Element, finding: Diagnosis, report: Report, strict: bool) -> None:
    lines = [finding.summary, *(evidence(item, report) for item in finding.evidence)]
    if finding.explained_by:
        lines.append(f"explained by {finding.explained_by}")
    for fix in finding.fix:
        lines += [f"{'look' if fix.kind == 'look' else 'do'}: {fix.text}", *([f"    {fix.command}"] if fix.command else [])]
    if finding.muted is not None:
        ElementTree.SubElement(case, "system-out").text = plain("\n".join([f"muted: {finding.muted}", *lines]))
    elif finding.severity is Severity.ERROR or strict:
        _add(case, "failure", finding.severity.value, finding.summary, "\n".join(lines))
    else:  # a warning passes, and is told
        ElementTree.SubElement(case, "system-out").text = plain("\n".join(["warning", *lines]))


def _crash(outcome: Outcome) -> str:
    return f"the rule gave no answer: {outcome.reason or outcome.status.value}"


def _training(report: Report) -> Iterator[ElementTree.Element]:
    names: dict[str, int] = {}
    for run in report.training:
        name = training_run(run) + (" XLA" if run.compiled else "")
        names[name] = names.get(name, 0) + 1
        case = _case("gpucheck.training", name if names[name] == 1 else f"{name} #{names[name]}", _seconds(run))
        if run.status != "passed":
            tag = {"skipped": "skipped", "failed": "failure"}.get(run.status, "error")
            _add(case, tag, run.status, why_not(run))
        yield case


def _run(report: Report) -> ElementTree.Element:
    """Without it a run that could not look would be all green."""
    case = _case("gpucheck.run", "everything was looked at", report.seconds)
    if report.unknown_because:
        _add(case, "error", "unknown", report.unknown_because[0], "\n".join(report.unknown_because))
    return case


def _case(kind: str, name: str, seconds: float = 0.0) -> ElementTree.Element:
    return ElementTree.Element("testcase", classname=kind, name=line(name), time=f"{seconds:.3f}")


def _add(case: ElementTree.Element, tag: str, kind: str, message: str, text: str | None = None) -> None:
    element = ElementTree.SubElement(case, tag, message=line(message), type=line(kind))
    if text is not None:
        element.text = plain(text)


def _seconds(run: TrainingRun) -> float:
    """As far as it was measured: the first step, and the median of the others times their number."""
    return (run.first_step_seconds or 0.0) + (run.step_seconds or 0.0) * max((run.steps or 0) - 1, 0)


def _training_seconds(report: Report) -> float:
    return next((run.seconds for run in report.probes if run.name == "training"), 0.0)
