"""JUnit XML: a case per node, and per worker. A fault is a failure; what could not be checked is an error."""

from collections.abc import Iterator

from gpucheck.commands.fleet.formats import training_lines
from gpucheck.commands.fleet.model import Fleet, FleetTraining, Node
from gpucheck.core.reports.junit import Case, Problem, Suite, Tag, document

SUITE = "gpucheck.fleet"
TAGS: dict[str, Tag] = {"fail": "failure", "unknown": "error"}  # by verdict; the others passed


def render(fleet: Fleet) -> str:
    """Render an XML document. Characters that XML forbids are dropped."""
    cases = [_case(node.name, _verdict(node, fleet), node.cause or ", ".join(node.remarks)) for node in fleet.nodes]
    cases += [
        _case(f"{one.file} ({one.kind})", "unknown", one.why)
        for one in fleet.unusual
        if one.kind in ("foreign", "two nodes of one name")  # the other files without a report are among the nodes
    ]
    cases += [_case(f"nodes without a report: {part.nodes}", "unknown", why) for why, part in fleet.unreached.items()]
    if fleet.missing is not None and fleet.missing.count:
        cases.append(_case("nodes without a report", "unknown", fleet.missing.nodes))
    if fleet.training is not None:
        cases += _trained(fleet.training)
    return document("gpucheck", [Suite(SUITE, cases, fleet.seconds)], fleet.seconds)


def _verdict(node: Node, fleet: Fleet) -> str:
    """Return the verdict of a node; with --strict, the one of the exit code for each unusual node."""
    if fleet.by_strict and (node.verdict == "warn" or (node.verdict == "pass" and node.remarks)):
        return "fail" if fleet.exit_code == 1 else "unknown"
    return node.verdict


def _trained(training: FleetTraining) -> Iterator[Case]:
    """Yield a case per worker. For a worker that only lost another one, the verdict is unknown."""
    faults = {fault.node: fault for fault in training.faults}
    slow = training_lines.slow(training)
    for worker in training.workers:
        fault = faults.get(worker.node)
        details = [f"{fault.reason}{f' in stage {fault.stage}' if fault.stage else ''}" if fault else worker.reason or ""]
        details += [training_lines.figures(worker, training)] * (worker.link_seconds is not None)
        details += [f"its links are slow: {slow[worker.node]:.1f} times the median"] if worker.node in slow else []
        failed = fault is not None and worker.status in ("failed", "timed_out")
        verdict = "pass" if worker.status == "passed" else "fail" if failed else "unknown"
        yield _case(f"training: {worker.name} on {worker.node}", verdict, "; ".join(filter(None, details)))
    for skew in training.skew:
        verdict = "pass" if skew.tolerated else "fail"
        yield _case(f"training: {skew.what} {skew.value} on {skew.nodes}", verdict, f"{skew.usual} on the other nodes")
    if not training.workers:
        yield _case("training", "unknown", training.reason or "")


def _case(name: str, verdict: str, why: str) -> Case:
    if verdict in TAGS:
        return Case(SUITE, name, Problem(TAGS[verdict], verdict, why, why))
    return Case(SUITE, name, output=why)
