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
        speeds = {report.node: report.speeds[job] for report in members if job in report.speeds}
        starts = {report.node: report.starts[job] for report in members if job in report.starts}
        slower = _outliers(speeds, job, "samples/s", -1.0, SHARE)
        for ratio, slow in (*slower, *_outliers(starts, job, "seconds of the first step", 1.0, FIRST_STEP)):
            if slow.node not in worst or ratio > worst[slow.node][0]:
                worst[slow.node] = (ratio, slow)
    yield from (slow for _, slow in sorted(worst.values(), key=lambda pair: (-pair[0], pair[1].node)))


def _outliers(values: dict[str, float], job: str, what: str, sign: float, factor: float) -> Iterator[tuple[float, Slow]]:
    """Yield the outliers, each with its ratio to the median: those below for a negative sign, else those above."""
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
