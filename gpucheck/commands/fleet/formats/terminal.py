"""The fleet for a terminal: the problems and their nodes."""

from collections.abc import Iterator

from gpucheck.commands.fleet.decoded import shortened
from gpucheck.commands.fleet.formats import training_lines
from gpucheck.commands.fleet.merge import OF_NODES
from gpucheck.commands.fleet.model import Fleet, FleetCause, Outlier, Part, Slow, Unusual
from gpucheck.commands.fleet.names import fold
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.words import duration, plural, significant

MOST = 8  # maximum lines of a kind; the JSON has all
NAMES = 30  # characters of a list of nodes per line
LONGEST = 240  # characters of a summary
COMMAND = "$"  # label of a command
STYLES = {"fail": "fail", "warn": "warn", "unknown": "warn", "pass": "ok"}


def render(fleet: Fleet, *, width: int, color: bool, ascii: bool) -> str:
    """Render lines no wider than ``width``."""
    out = TerminalText(width=width, color=color, ascii=ascii)
    out.add(
        (f"gpucheck fleet {fleet.tool['version']}", "title"), f" · {plural(fleet.files, 'report')} · {duration(fleet.seconds)}"
    )
    out.blank()
    for label, style, text in _lines(fleet):
        if label == COMMAND:
            out.command(text, 12)
        else:
            out.add(text, indent=2, label=(f"{label:9}", style), hang=12)
    out.blank()
    out.add((conclusion(fleet), "fail" if fleet.exit_code == 1 else STYLES[fleet.verdict]))
    return str(out)


def _lines(fleet: Fleet) -> Iterator[tuple[str, str, str]]:
    """Yield label, style and text of every line: problems, the worst first, then the groups."""
    yield from _causes(fleet, "error")
    yield from unchecked(fleet, MOST)
    if fleet.training is not None:
        yield from training_lines.lines(fleet.training, MOST)
    yield from _causes(fleet, "warning")
    yield from differences(fleet, MOST)
    for group in fleet.groups:
        matching = "all" if group.matching == group.count else f"{group.matching:,}"
        yield (
            "group",
            "quiet",
            f"{group.gpus}: {plural(group.count, 'node')}, {matching} match the majority{_majority_values(group.usual)}",
        )


def unchecked(fleet: Fleet, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield the nodes without a verdict or a report, ``most`` lines of each kind."""
    for label, parts in (("unknown", fleet.unknown), ("no report", fleet.unreached)):
        for why, part in list(parts.items())[:most]:
            yield label, "warn", f"{_nodes(part, most)}: {why}"
        yield from _more(len(parts), "reason", most)
    if fleet.missing is not None and fleet.missing.count:
        yield "missing", "warn", f"no report of {_nodes(fleet.missing, most)}"


def differences(fleet: Fleet, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield the nodes that are slow, differ from the others, or have an unusual report, ``most`` lines of each kind."""
    for slow in fleet.slow[:most]:
        yield "slow", "warn", _slow(slow)
    yield from _more(len(fleet.slow), "slow node", most)
    for group in fleet.groups:
        for outlier in group.outliers[:most]:
            majority = f"majority: {outlier.usual}, on {outlier.usual_count:,}"
            yield "differs", "warn", f"{outlier.what} {outlier.value} on {_nodes(outlier, most)} ({majority})"
        yield from _more(len(group.outliers), "difference", most)
    for kind, part, why in _folded(fleet):
        yield "note", "warn", f"{kind}: {_nodes(part, most)}: {why}"


def _causes(fleet: Fleet, severity: str) -> Iterator[tuple[str, str, str]]:
    label, style = ("FAIL", "fail") if severity == "error" else ("WARN", "warn")
    causes = [cause for cause in fleet.causes if (cause.severity == "error") is (severity == "error")]
    for cause in causes[:MOST]:
        where = f"{cause.code} on {_nodes(cause, MOST)} ({cause.scope}{f', {cause.action}' if cause.action else ''})"
        yield label, style, f"{where}. On {cause.example_node}: {shortened(cause.example, LONGEST)}"
        if cause.command is not None and severity == "error":
            yield COMMAND, "quiet", cause.command
    yield from _more(len(causes), "cause", MOST)


def _folded(fleet: Fleet) -> Iterator[tuple[str, Part, str]]:
    """Yield each kind of unusual file once, with nodes and first reason; nodes without a verdict are listed elsewhere."""
    kinds: dict[str, list[Unusual]] = {}
    for one in fleet.unusual:
        if one.kind not in OF_NODES:
            kinds.setdefault(one.kind, []).append(one)
    for kind, ones in kinds.items():
        first = ones[0].why if len(ones) == 1 else f"{ones[0].node}: {ones[0].why}"
        yield kind, Part(count=len(ones), nodes=fold(one.node for one in ones)), first


def _more(count: int, what: str, most: int) -> Iterator[tuple[str, str, str]]:
    if count > most:
        yield "", "quiet", f"and {plural(count - most, what)} more (--format json has all)"


def _nodes(part: Part | FleetCause | Outlier, most: int) -> str:
    nodes = part.nodes
    if len(nodes) > most * NAMES:
        nodes = f"{nodes[: most * NAMES].rpartition(',')[0]},… (--format json has all)"
    return nodes if part.count == 1 else f"{part.count:,} nodes: {nodes}"


def _majority_values(majority: dict[str, str]) -> str:
    named = [f"{what} {majority[what]}" for what in ("TensorFlow", "driver", "number of GPUs") if what in majority]
    return f" ({', '.join(named)})" if named else ""


def _slow(slow: Slow) -> str:
    times = f"{slow.value / slow.median:.0%} of" if slow.what == "samples/s" else f"{slow.value / slow.median:.1f} times"
    return (
        f"{slow.node}: {times} the median {slow.what}:"
        f" {significant(slow.value)} instead of {significant(slow.median)} ({slow.job})"
    )


def conclusion(fleet: Fleet) -> str:
    """Return the number of nodes in each state, the worst first, and the effect of --strict."""
    without_report = sum(
        part.count for part in (*fleet.unreached.values(), *([fleet.missing] if fleet.missing is not None else []))
    )
    unusual = sum(node.verdict == "pass" and bool(node.remarks) for node in fleet.nodes)
    numbers = {
        "with a fault": fleet.counts.get("fail", 0),
        "without a verdict": fleet.counts.get("unknown", 0),
        "without a report": without_report,
        "with warnings": fleet.counts.get("warn", 0),
        "unusual": unusual,
        "healthy": fleet.counts.get("pass", 0) - unusual,
    }
    parts = [f"{number:,} {words}" for words, number in numbers.items() if number]
    nodes = sum(fleet.counts.values()) + without_report
    if not nodes:
        return f"No reports: {'no file is a report of gpucheck' if fleet.unusual else 'no *.json file was found'}."
    strict = f" With --strict, this is {'a fault' if fleet.exit_code == 1 else 'no verdict'}." if fleet.by_strict else ""
    return f"{plural(nodes, 'node')}{': ' if parts else ''}{', '.join(parts)}.{strict}"
