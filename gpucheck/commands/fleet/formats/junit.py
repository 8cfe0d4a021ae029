"""JUnit XML: a case per node, and per worker. A fault is a failure, what could not be looked at an error."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

from gpucheck.commands.fleet.formats import training_lines
from gpucheck.commands.fleet.model import Fleet, FleetTraining
from gpucheck.core.reports.shared.limited_text import line, plain


def render(fleet: Fleet) -> str:
    """An XML document. Characters that XML forbids are dropped."""
    cases = [_case(node.name, node.verdict, node.cause or "") for node in fleet.nodes]
    cases += [
        _case(f"{one.file} ({one.kind})", "unknown", one.why) for one in fleet.unusual if one.kind not in ("duplicate", "future")
    ]
    cases += [_case(f"nodes without an answer: {part.nodes}", "unknown", why) for why, part in fleet.unreached.items()]
    if fleet.missing is not None and fleet.missing.count:
        cases.append(_case("nodes without a report", "unknown", fleet.missing.nodes))
    if fleet.training is not None:
        cases += _trained(fleet.training)
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


def _trained(training: FleetTraining) -> Iterator[ElementTree.Element]:
    """Who only lost another worker has shown neither that it can train nor that it can not."""
    faults = {fault.node: fault for fault in training.faults}
    slow = training_lines.slow(training)
    for worker in training.workers:
        fault = faults.get(worker.node)
        told = [f"{fault.reason}{f' in stage {fault.stage}' if fault.stage else ''}" if fault else worker.reason or ""]
        told += [training_lines.figures(worker, training)] * (worker.link_seconds is not None)
        told += [f"its links are slow: {slow[worker.node]:.1f} times the usual"] if worker.node in slow else []
        failed = fault is not None and worker.status in ("failed", "timed_out")
        verdict = "pass" if worker.status == "passed" else "fail" if failed else "unknown"
        yield _case(f"training: {worker.name} on {worker.node}", verdict, "; ".join(filter(None, told)))
    for skew in training.skew:
        verdict = "pass" if skew.tolerated else "fail"
        yield _case(f"training: {skew.what} {skew.value} on {skew.nodes}", verdict, f"{skew.usual} on the others")
    if not training.workers:
        yield _case("training", "unknown", training.reason or "")


def _case(name: str, verdict: str, why: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", name=line(name), classname="gpucheck.fleet", time="0")
    kind = {"fail": "failure", "unknown": "error"}.get(verdict)
    if kind is not None:
        ElementTree.SubElement(case, kind, message=line(why), type=verdict).text = plain(why)
    elif why:
        ElementTree.SubElement(case, "system-out").text = plain(why)
    return case
