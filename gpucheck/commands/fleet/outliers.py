"""Find outliers among the nodes: slow nodes, old reports, wrong clocks, and different results with the same software."""

import math
import statistics
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpucheck.commands.fleet.decoded import Cause, NodeReport
from gpucheck.commands.fleet.model import Slow, Unusual
from gpucheck.commands.fleet.names import fold
from gpucheck.core.model.checksums import Difference, describe, first_difference

# A node is slow if it is an outlier in its group and the difference is large enough: a check trains for a few hundred
# milliseconds, so differences below a fifth are noise.
SPREADS = 6.0  # standard deviations, estimated from the median absolute deviation
DEVIATION = 1.4826  # standard deviation of a normal distribution, in median absolute deviations
SHARE = 0.8  # share of the group's median
FIRST_STEP = 2.0  # multiple of the group's median: a first step compiles, and varies more
FEWEST = 5  # minimum nodes for a useful median

AHEAD_SECONDS = 300  # how far a node's clock may be ahead
FIRST_YEAR = "2025"  # gpucheck did not exist earlier
SAME_COLLECTION_SECONDS = 86_400  # a report that is older than the newest by more than this is from another collection

CODE = "device-results-differ"
AGAIN = "gpucheck --soak 30"


def slow_nodes(members: list[NodeReport]) -> Iterator[Slow]:
    """Yield the slow nodes of a group, each with its worst job."""
    worst: dict[str, tuple[float, Slow]] = {}
    jobs = dict.fromkeys(job for report in members for job in (*report.speeds, *report.starts))
    for job in jobs:
        speeds = {report.node: report.speeds[job] for report in members if job in report.speeds}
        starts = {report.node: report.starts[job] for report in members if job in report.starts}
        slower = _outliers(speeds, job, "samples/s", -1.0, SHARE)
        for ratio, slow in (*slower, *_outliers(starts, job, "seconds of the first step", 1.0, FIRST_STEP)):
            if slow.node not in worst or ratio > worst[slow.node][0]:
                worst[slow.node] = (ratio, slow)
    yield from (slow for _, slow in sorted(worst.values(), key=lambda pair: (-pair[0], pair[1].node)))


def _outliers(values: dict[str, float], job: str, what: str, sign: float, factor: float) -> Iterator[tuple[float, Slow]]:
    """Yield the outliers, each with its ratio to the median: those below it for a negative sign, otherwise those above it."""
    if len(values) < FEWEST:
        return
    median = statistics.median(values.values())
    spread = DEVIATION * statistics.median(abs(value - median) for value in values.values())
    bounds = (median + sign * SPREADS * spread, factor * median)
    bound = min(bounds) if sign < 0 else max(bounds)
    for node, value in values.items():
        if sign * value > sign * bound:
            ratio = median / max(value, 1e-9) if sign < 0 else value / max(median, 1e-9)
            yield ratio, Slow(node=node, job=job, what=what, value=value, median=median, nodes_compared=len(values))


def dated(reports: Iterable[NodeReport], max_age: float | None) -> tuple[list[NodeReport], list[Unusual]]:
    """Return the reports, and those whose time is unusual.

    Args:
        reports: reports of nodes.
        max_age: seconds after which a healthy report expires and has no verdict; faults do not expire. None: never.
    """
    reports = list(reports)
    newest = min((report.age_seconds or 0.0 for report in reports if not _wrong(report)), default=math.inf)
    found = []
    for place, report in enumerate(reports):
        kind, why = _judged(report, newest, max_age)
        if kind is None:
            continue
        found.append(
            Unusual(kind=kind, node=report.node, file=report.file, why=f"{why}: {report.started_at or 'without a date'}")
        )
        if max_age is not None and not report.faulty:
            reports[place] = replace(report, verdict="unknown", unknown_because=why)
    return reports, found


def _judged(report: NodeReport, newest: float, max_age: float | None) -> tuple[str | None, str]:
    if _wrong(report):
        return "wrong clock", "the report's date is impossible, so its age is unknown"
    age = report.age_seconds or 0.0
    if max_age is not None and age > max_age:
        return "old", "the report is older than --max-age"
    if max_age is None and age > newest + SAME_COLLECTION_SECONDS:
        return "old", "the report is more than a day older than the newest"
    return None, ""


def _wrong(report: NodeReport) -> bool:
    return report.age_seconds is None or report.age_seconds < -AHEAD_SECONDS or report.started_at[:4] < FIRST_YEAR


def with_differing_results(reports: list[NodeReport]) -> list[NodeReport]:
    """Add a warning to each node whose results differ from the majority; without a majority, to all nodes.

    It is not an error: a library may choose another kernel for one GPU of the same model.
    """
    causes: dict[str, Cause] = {}
    for setup in dict.fromkeys(report.setup for report in reports if report.setup):
        members = {report.node: report.checksums for report in reports if report.setup == setup}
        difference = first_difference(members)
        if difference is not None:
            causes.update(_causes(difference, setup[0]))
    return [_with(report, causes[report.node]) if report.node in causes else report for report in reports]


def _causes(difference: Difference, model: str) -> dict[str, Cause]:
    where, nodes = f"first in {describe(difference.computation)}", difference.outliers
    summary = f"The results of its {model} differ from those of {fold(difference.matching)} with the same software, {where}."
    if not difference.majority:
        nodes = difference.outliers + difference.matching
        summary = (
            f"The {model} of {fold(nodes)} get different results with the same software, {where};"
            " no majority shows which one is wrong."
        )
    return {node: Cause(CODE, "warning", "hardware", summary, AGAIN) for node in nodes}


def _with(report: NodeReport, cause: Cause) -> NodeReport:
    if any(known.code == CODE for known in report.causes):
        return report
    verdict = "warn" if report.verdict == "pass" else report.verdict
    return replace(report, verdict=verdict, causes=(*report.causes, cause))
