"""Write JUnit XML, from the test cases of reports, fleets and lint runs.

Elements and attributes are those of Jenkins' and pytest's schemas (junit-10.xsd).
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from gpucheck.core.reports.shared.limited_text import line, plain

Tag = Literal["failure", "error", "skipped"]
_COUNTED: dict[str, Tag] = {"failures": "failure", "errors": "error", "skipped": "skipped"}


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
    attributes: Mapping[str, str] = MappingProxyType({})
    properties: Mapping[str, str] = MappingProxyType({})


def document(name: str, suites: Sequence[Suite], seconds: float | None = None) -> str:
    """Render an XML document, without characters that XML forbids."""
    cases = [case for suite in suites for case in suite.cases]
    root = ElementTree.Element("testsuites", {"name": name, **_time(seconds), **_counts(cases)})
    root.extend(map(_suite, suites))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(suite: Suite) -> ElementTree.Element:
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
