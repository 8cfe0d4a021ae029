"""Merge the reports of nodes into a fleet."""

import collections
from collections.abc import Iterable, Mapping
from typing import TypeVar

from gpucheck import __version__
from gpucheck.commands.fleet.decoded import Cause, NodeReport
from gpucheck.commands.fleet.model import Fleet, FleetCause, Group, Node, Outlier, Part, Unusual
from gpucheck.commands.fleet.names import fold, natural
from gpucheck.commands.fleet.outliers import dated, slow_nodes, with_differing_results

NO_GPU, NOT_READ = "no GPU", "GPUs not read"
OF_NODES = ("half-written", "another schema", "too large", "unreadable")  # kinds of files that a node wrote as its report
Item = TypeVar("Item")


class Merge:
    """A collector of reports that keeps only the parts that the fleet's tables need."""

    def __init__(self, max_age: float | None = None, *, strict: bool = False) -> None:
        """Set the maximum age of a healthy report in seconds, and whether unusual reports fail."""
        self._seen: dict[str, NodeReport] = {}
        self._unusual: list[Unusual] = []
        self._unread: dict[str, str] = {}  # node -> why its file is not a report
        self._max_age, self._strict = max_age, strict
        self._files = self._unidentified = 0

    def add(self, report: NodeReport | Unusual) -> None:
        """Add a report. Of two reports of a node, the later one is used."""
        self._files += 1
        if isinstance(report, Unusual):
            self._unusual.append(report)
            if report.kind in OF_NODES:
                self._unread[report.node] = f"its report is {report.kind}: {report.why}"
            else:
                self._unidentified += 1
            return
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
            why = f"its GPUs differ from those in {later.file}, which is used"
            self._unusual.append(Unusual(kind="two nodes of one name", node=later.node, file=earlier.file, why=why))
            self._unidentified += 1
        else:
            when = "is later" if later.started_at != earlier.started_at else "has the same time"
            why = f"{later.file} {when}, and is used"
            self._unusual.append(Unusual(kind="duplicate", node=later.node, file=earlier.file, why=why))
        return later

    def fleet(self, seconds: float, expected: Iterable[str] | None = None, unreached: Mapping[str, str] | None = None) -> Fleet:
        """Return the fleet.

        Args:
            seconds: the duration of the merge.
            expected: the nodes that should have a report; None: not given.
            unreached: nodes without a report from the engine, and why.
        """
        reports, undated = dated((self._seen[name] for name in sorted(self._seen, key=natural)), self._max_age)
        reports = with_differing_results(reports)
        unread = {name: why for name, why in self._unread.items() if name not in self._seen}
        reasons = _grouped((name, why) for name, why in (unreached or {}).items() if name not in self._seen)
        known = {*self._seen, *unread, *(unreached or {})}
        missing = None if expected is None else [name for name in expected if name not in known]
        unknown_reasons = [(report.node, report.unknown_because) for report in reports if report.unknown_because is not None]
        unknown = _grouped([*unknown_reasons, *unread.items()])
        groups = _grouped((report, _gpus(report)) for report in reports).items()
        slow = tuple(slow for _, members in groups for slow in slow_nodes(members))
        remarks: dict[str, list[str]] = {one.node: ["slow"] for one in slow}
        compared = tuple(_group(name, members, remarks) for name, members in groups)
        differing = bool(remarks) or any(report.verdict == "warn" for report in reports)
        for one in undated:
            remarks.setdefault(one.node, []).append(one.kind)
        verdict = _verdict(reports, bool(self._unidentified or unknown or missing or reasons or not reports), bool(remarks))
        exit_code = {"fail": 1, "unknown": 3}.get(verdict, 0)
        if self._strict and exit_code != 1:
            exit_code = 1 if differing else 3 if undated else exit_code
        counts = collections.Counter(report.verdict for report in reports)
        nodes = [_node(report, remarks.get(report.node, ())) for report in reports]
        nodes += [Node(name=name, verdict="unknown", started_at="", cause=why, gpus=NOT_READ) for name, why in unread.items()]
        return Fleet(
            tool={"name": "gpucheck", "version": __version__},
            verdict=verdict,
            exit_code=exit_code,
            files=self._files,
            counts=dict(counts + collections.Counter({"unknown": len(unread)})),
            causes=tuple(_causes(reports)),
            unknown={why: _part(names) for why, names in unknown.items()},
            unreached={why: _part(names) for why, names in reasons.items()},
            missing=None if missing is None else _part(missing),
            groups=compared,
            slow=slow,
            unusual=tuple(sorted([*self._unusual, *undated], key=lambda one: (one.kind, one.file))),
            nodes=tuple(sorted(nodes, key=lambda node: natural(node.name))),
            seconds=round(seconds, 3),
        )


def _verdict(reports: list[NodeReport], gaps: bool, remarks: bool) -> str:
    """Return the verdict, which errors decide first, then gaps, then warnings, as for one machine."""
    if any(report.faulty for report in reports):
        return "fail"
    if gaps:
        return "unknown"
    return "warn" if remarks or any(report.verdict == "warn" for report in reports) else "pass"


def _part(names: list[str]) -> Part:
    return Part(count=len(names), nodes=fold(names))


def _node(report: NodeReport, remarks: Iterable[str]) -> Node:
    cause = next((cause.code for cause in report.causes), None)
    return Node(
        name=report.node,
        verdict=report.verdict,
        started_at=report.started_at,
        cause=report.unknown_because or cause,
        gpus=f"{report.configuration.get('number of GPUs', '0')} × {_gpus(report)}" if report.gpus else _gpus(report),
        remarks=tuple(remarks),
    )


def _causes(reports: list[NodeReport]) -> list[FleetCause]:
    found: dict[tuple[str, str], list[tuple[Cause, str]]] = {}
    for report in reports:
        for cause in report.causes:
            found.setdefault((cause.code, cause.severity), []).append((cause, report.node))
    causes = [
        FleetCause(
            code=first.code,
            severity=first.severity,
            scope=first.scope,
            count=len(those),
            nodes=fold(name for _, name in those),
            example=first.summary,
            example_node=node,
            command=first.command,
            action=first.action,
        )
        for those in found.values()
        for first, node in those[:1]
    ]
    return sorted(causes, key=lambda cause: (cause.severity != "error", -cause.count, cause.code))


def _grouped(named: Iterable[tuple[Item, str]]) -> dict[str, list[Item]]:
    """Group nodes by reason, or by another key, the most frequent first."""
    groups: dict[str, list[Item]] = {}
    for item, name in named:
        groups.setdefault(name, []).append(item)
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])))


def _gpus(report: NodeReport) -> str:
    return NOT_READ if report.gpus is None else ", ".join(report.gpus) or NO_GPU


def _group(name: str, members: list[NodeReport], remarks: dict[str, list[str]]) -> Group:
    """Compare the nodes of a group, and add the differences to the remarks of each."""
    counts: dict[str, collections.Counter[str]] = {}
    for report in members:
        for what, value in report.configuration.items():
            counts.setdefault(what, collections.Counter())[value] += 1
    majority = {what: min(values, key=lambda value: (-values[value], value)) for what, values in counts.items()}
    outliers: dict[tuple[str, str], list[str]] = {}
    matching = 0
    for report in members:
        others = [(what, value) for what, value in report.configuration.items() if value != majority[what]]
        matching += not others
        for key in others:
            outliers.setdefault(key, []).append(report.node)
            remarks.setdefault(report.node, []).append(" ".join(key))
    return Group(
        gpus=name,
        count=len(members),
        nodes=fold(report.node for report in members),
        usual=majority,
        matching=matching,
        outliers=tuple(
            Outlier(
                what=what,
                value=value,
                usual=majority[what],
                usual_count=counts[what][majority[what]],
                count=len(names),
                nodes=fold(names),
            )
            for (what, value), names in sorted(outliers.items(), key=lambda item: (len(item[1]), item[0]))
        ),
    )
