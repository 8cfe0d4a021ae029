"""Merge the reports of nodes into a fleet."""

import collections
import statistics
from collections.abc import Iterable, Iterator, Mapping

from gpucheck import __version__
from gpucheck.commands.fleet.model import Fleet, FleetCause, Group, Node, Odd, Part, Slow, Unusual
from gpucheck.commands.fleet.names import fold
from gpucheck.commands.fleet.read import Cause, NodeReport, Unread

# A node is slow if it is an outlier of its group and the difference is large enough: a check trains for some hundred
# milliseconds, so differences below a fifth mean nothing.
SPREADS = 6.0  # standard deviations, estimated from the median absolute deviation
DEVIATION = 1.4826  # standard deviation of a normal distribution, in median absolute deviations
SHARE = 0.8  # of the group's median
FIRST_STEP = 2.0  # times the group's median: a first step compiles, and varies more
FEWEST = 5  # minimum nodes for a useful median
NO_GPU = "no GPU"


class Merge:
    """Collects reports one by one, and keeps only what the fleet needs of each."""

    def __init__(self) -> None:
        self._seen: dict[str, NodeReport] = {}
        self._unusual: list[Unusual] = []
        self._files = self._unread = 0

    def add(self, report: NodeReport | Unread) -> None:
        """Add a report. Of two reports of a node, the later one counts."""
        self._files += 1
        if isinstance(report, Unread):
            self._unread += 1
            self._unusual.append(Unusual(kind=report.kind, file=report.file, why=report.why))
            return
        if report.ahead:
            why = f"{report.node}: written at {report.started_at}, which is in the future: its clock is wrong"
            self._unusual.append(Unusual(kind="future", file=report.file, why=why))
        other = self._seen.get(report.node)
        if other is not None:
            report = self._of_two(other, report)
        self._seen[report.node] = report

    @property
    def names(self) -> Iterable[str]:
        """The nodes with a report."""
        return self._seen.keys()

    def _of_two(self, first: NodeReport, second: NodeReport) -> NodeReport:
        earlier, later = sorted((first, second), key=lambda seen: (seen.started_at, seen.file))
        if earlier.uuids and later.uuids and not set(earlier.uuids) & set(later.uuids):
            why = f"{later.node}: its GPUs differ from those in {later.file}, which counts"
            self._unusual.append(Unusual(kind="two nodes of one name", file=earlier.file, why=why))
            self._unread += 1  # an unidentified node
        else:
            when = "is later" if later.started_at != earlier.started_at else "has the same time"
            why = f"{later.node}: {later.file} {when}, and counts"
            self._unusual.append(Unusual(kind="duplicate", file=earlier.file, why=why))
        return later

    def fleet(self, seconds: float, expected: Iterable[str] | None = None, unreached: Mapping[str, str] | None = None) -> Fleet:
        """Return the fleet.

        Args:
            seconds: the duration.
            expected: the nodes that should have a report; None: not given.
            unreached: nodes without a report from the engine, and why.
        """
        reports = [self._seen[name] for name in sorted(self._seen, key=_natural)]
        reasons = _by_reason((name, why) for name, why in (unreached or {}).items() if name not in self._seen)
        missing = (
            None if expected is None else [name for name in expected if name not in self._seen and name not in (unreached or {})]
        )
        unknown = _by_reason((report.node, report.unknown_because) for report in reports if report.unknown_because is not None)
        verdict = _verdict(reports, bool(self._unread or unknown or missing or reasons or not reports))
        groups = list(_groups(reports))
        return Fleet(
            tool={"name": "gpucheck", "version": __version__},
            verdict=verdict,
            exit_code={"fail": 1, "unknown": 3}.get(verdict, 0),
            files=self._files,
            counts=dict(collections.Counter(report.verdict for report in reports)),
            causes=tuple(_causes(reports)),
            unknown={why: _part(names) for why, names in unknown.items()},
            unreached={why: _part(names) for why, names in reasons.items()},
            missing=None if missing is None else _part(missing),
            groups=tuple(_group(name, members) for name, members in groups),
            slow=tuple(slow for _, members in groups for slow in _slow(members)),
            unusual=tuple(sorted(self._unusual, key=lambda one: (one.kind, one.file))),
            nodes=tuple(_node(report) for report in reports),
            seconds=round(seconds, 3),
        )


def _natural(name: str) -> tuple[str, int, str]:
    digits = name.rstrip("0123456789")
    return digits, int(name[len(digits) :] or 0) if len(name) - len(digits) <= 18 else 0, name


def _verdict(reports: list[NodeReport], gaps: bool) -> str:
    """Decide by errors first, then gaps, then warnings, as for one machine."""
    if any(report.faulty for report in reports):
        return "fail"
    if gaps:
        return "unknown"
    return "warn" if any(report.verdict == "warn" for report in reports) else "pass"


def _part(names: list[str]) -> Part:
    return Part(count=len(names), nodes=fold(names))


def _node(report: NodeReport) -> Node:
    cause = next((cause.code for cause in report.causes), None)
    return Node(
        name=report.node,
        verdict=report.verdict,
        started_at=report.started_at,
        cause=report.unknown_because or cause,
        gpus=f"{report.configuration.get('number of GPUs', '0')} × {_gpus(report)}" if report.gpus else NO_GPU,
    )


def _causes(reports: list[NodeReport]) -> list[FleetCause]:
    nodes: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], tuple[Cause, str]] = {}
    for report in reports:
        for cause in report.causes:
            key = (cause.code, cause.severity)
            nodes.setdefault(key, []).append(report.node)
            first.setdefault(key, (cause, report.node))
    causes = [
        FleetCause(
            code=code,
            severity=severity,
            scope=first[code, severity][0].scope,
            count=len(names),
            nodes=fold(names),
            example=first[code, severity][0].summary,
            example_node=first[code, severity][1],
        )
        for (code, severity), names in nodes.items()
    ]
    return sorted(causes, key=lambda cause: (cause.severity != "error", -cause.count, cause.code))


def _by_reason(named: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Group nodes by reason, the most frequent first."""
    reasons: dict[str, list[str]] = {}
    for name, reason in named:
        reasons.setdefault(reason, []).append(name)
    return dict(sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])))


def _gpus(report: NodeReport) -> str:
    return ", ".join(report.gpus) or NO_GPU


def _groups(reports: list[NodeReport]) -> Iterator[tuple[str, list[NodeReport]]]:
    groups: dict[str, list[NodeReport]] = {}
    for report in reports:
        groups.setdefault(_gpus(report), []).append(report)
    yield from sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def _group(name: str, members: list[NodeReport]) -> Group:
    counts: dict[str, collections.Counter[str]] = {}
    for report in members:
        for what, value in report.configuration.items():
            counts.setdefault(what, collections.Counter())[value] += 1
    usual = {what: min(values, key=lambda value: (-values[value], value)) for what, values in counts.items()}
    odd: dict[tuple[str, str], list[str]] = {}
    alike = 0
    for report in members:
        others = [(what, value) for what, value in report.configuration.items() if value != usual[what]]
        alike += not others
        for key in others:
            odd.setdefault(key, []).append(report.node)
    return Group(
        gpus=name,
        count=len(members),
        nodes=fold(report.node for report in members),
        usual=usual,
        alike=alike,
        odd=tuple(
            Odd(
                what=what,
                value=value,
                usual=usual[what],
                usual_count=counts[what][usual[what]],
                count=len(names),
                nodes=fold(names),
            )
            for (what, value), names in sorted(odd.items(), key=lambda item: (len(item[1]), item[0]))
        ),
    )


def _slow(members: list[NodeReport]) -> Iterator[Slow]:
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
