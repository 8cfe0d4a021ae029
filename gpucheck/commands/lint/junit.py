"""A lint run as JUnit XML: each finding fails, an error is what can't be read; one that passes if nothing is wrong."""

import xml.etree.ElementTree as ElementTree

from gpucheck.commands.lint.runner import Failure, Problem, Result
from gpucheck.core.reports.shared.limited_text import line, plain


def render(result: Result) -> str:
    """An XML document. Characters that XML forbids are dropped."""
    places: list[Problem | Failure] = [*result.problems, *result.failures]
    counts = {"tests": max(len(places), 1), "failures": len(result.problems), "errors": len(result.failures), "skipped": 0}
    root = ElementTree.Element("testsuites", name="gpucheck.lint")
    suite = ElementTree.SubElement(root, "testsuite", name="gpucheck.lint")
    for element in (root, suite):
        element.attrib.update({name: str(count) for name, count in counts.items()})
    for place in places:
        code = place.code if isinstance(place, Problem) else "unreadable"
        case = ElementTree.SubElement(suite, "testcase", classname=line(place.file), name=line(f"{code} at {place.where}"))
        kind = "failure" if isinstance(place, Problem) else "error"
        element = ElementTree.SubElement(case, kind, message=line(place.message), type=code)
        element.text = plain("\n".join([place.where, place.source, place.fix]) if isinstance(place, Problem) else place.where)
    if not places:
        ElementTree.SubElement(suite, "testcase", classname="gpucheck.lint", name=f"{result.files} files")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
