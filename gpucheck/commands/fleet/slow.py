"""Find nodes that are slower than others with the same GPUs."""

import statistics
from collections.abc import Iterator

from gpucheck.commands.fleet.model import Slow
from gpucheck.commands.fleet.read import NodeReport

# A node is slow if it is an outlier of its group and the difference is large enough: a check trains for some hundred
# milliseconds, so differences below a fifth are noise.
SPREADS = 6.0  # standard deviations, estimated from the median absolute deviation
DEVIATION = 1.4826  # standard deviation of a normal distribution, in median absolute deviations
SHARE = 0.8  # of the group's median
FIRST_STEP = 2.0  # times the group's median: a first step compiles, and varies more
FEWEST = 5  # minimum nodes for a useful median


def slow_nodes(members: list[NodeReport]) -> Iterator[Slow]:
    """Yield the slow nodes of a group, each with its worst job."""
    worst: dict[str, tuple[float, Slow]] = {}
    jobs = dict.fromkeys(job for report in members for job in (*report.speeds, *report.starts))
    for job in jobs:
        for ratio, slow in (*_below(members, job), *_above(members, job)):
            if slow.node not in worst or ratio > worst[slow.node][0]:
                worst[slow.node] = (ratio, slow)
    yield from (slow for _, slow in sorted(worst.values(), key=lambda pair: (-pair[0], pair[1].node)))


def _below(members: list[NodeReport], job: str) -> Iterator[tuple[float, Slow]]:
    values = {report.node: report.speeds[job] for report in members if job in report.speeds}
    for node, value, median, bound in _outside(values, -1.0):
        if value < min(bound, SHARE * median):
            yield (
                median / max(value, 1e-9),
                Slow(node=node, job=job, what="samples/s", value=value, median=median, nodes_compared=len(values)),
            )


def _above(members: list[NodeReport], job: str) -> Iterator[tuple[float, Slow]]:
    values = {report.node: report.starts[job] for report in members if job in report.starts}
    what = "seconds of the first step"
    for node, value, median, bound in _outside(values, 1.0):
        if value > max(bound, FIRST_STEP * median):
            yield (
                value / max(median, 1e-9),
                Slow(node=node, job=job, what=what, value=value, median=median, nodes_compared=len(values)),
            )


def _outside(values: dict[str, float], sign: float) -> Iterator[tuple[str, float, float, float]]:
    """Yield each node with its value, the median, and the bound of outliers: below it for a negative sign, else above."""
    if len(values) < FEWEST:
        return
    median = statistics.median(values.values())
    spread = DEVIATION * statistics.median(abs(value - median) for value in values.values())
    for node, value in values.items():
        yield node, value, median, median + sign * SPREADS * spread
