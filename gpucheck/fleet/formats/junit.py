"""JUnit XML: a case per node. A fault is a failure, what could not be looked at an error."""

import xml.etree.ElementTree as ElementTree

from gpucheck.fleet.model import Fleet
from gpucheck.reports.shared.limited_text import line, plain


def render(fleet: Fleet) -> str:
    """An XML document. Characters that XML forbids are dropped."""
    cases = [_case(node.name, node.verdict, node.cause or "") for node in fleet.nodes]
    cases += [
        _case(f"{one.file} ({one.kind})", "unknown", one.why) for one in fleet.unusual if one.kind not in ("duplicate", "future")
    ]
    cases += [_case(f"nodes without an answer: {part.nodes}", "unknown", why) for why, part in fleet.unreached.items()]
    if fleet.missing is not None and fleet.missing.count:
        cases.append(_case("nodes without a report", "unknown", fleet.missing.nodes))
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": 0,
    }
    words = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", {"name": "gpucheck", "time": f"{fleet.seconds:.3f}", **words})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "gpucheck.fleet", "time": f"{fleet.seconds:.3f}", **words})
    suite.extend(cases)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _case(name: str, verdict: str, why: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", name=line(name), classname="gpucheck.fleet", time="0")
    kind = {"fail": "failure", "unknown": "error"}.get(verdict)
    if kind is not None:
        ElementTree.SubElement(case, kind, message=line(why), type=verdict).text = plain(why)
    elif why:
        ElementTree.SubElement(case, "system-out").text = plain(why)
    return case
