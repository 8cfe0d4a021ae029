"""The fleet's counts as metrics for a textfile collector or a push gateway, without node names, to limit their number."""

from collections.abc import Iterator

from gpucheck.commands.fleet.model import Fleet
from gpucheck.core.reports.prometheus import Gauge, exposition

VERDICTS = ("pass", "warn", "fail", "unknown")


def render(fleet: Fleet) -> str:
    """Render the text exposition format."""
    return exposition(_gauges(fleet))


def _gauges(fleet: Fleet) -> Iterator[Gauge]:
    verdicts = [({"verdict": each}, fleet.counts.get(each, 0)) for each in VERDICTS]
    yield Gauge("fleet_nodes", "Nodes by the verdict of their report", verdicts)
    causes = [({"code": one.code, "severity": one.severity, "scope": one.scope}, one.count) for one in fleet.causes]
    yield Gauge("fleet_cause_nodes", "Nodes that have a root cause", causes)
    missing = (fleet.missing.count if fleet.missing is not None else 0) + sum(part.count for part in fleet.unreached.values())
    yield Gauge("fleet_missing_nodes", "Expected nodes without a report", [({}, missing)])
    outliers = sum(group.count - group.matching for group in fleet.groups)
    yield Gauge("fleet_odd_nodes", "Nodes that differ from the majority of their group", [({}, outliers)])
    yield Gauge("fleet_slow_nodes", "Nodes that are slower than their group", [({}, len(fleet.slow))])
    unusual = "Incomplete reports, other files, and duplicate reports of a node"
    yield Gauge("fleet_unusual_files", unusual, [({}, len(fleet.unusual))])
    if fleet.training is not None:
        yield Gauge("fleet_training_passed", "Whether all nodes trained together", [({}, fleet.training.status == "passed")])
