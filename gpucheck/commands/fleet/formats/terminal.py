"""The fleet for a terminal: the problems and their nodes."""

from collections.abc import Iterator

from gpucheck.commands.fleet.formats import training_lines
from gpucheck.commands.fleet.model import Fleet, Part, Slow
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.words import duration, plural, significant

MOST = 8  # maximum lines of a kind; the JSON has all
MOST_NAMES = 240  # maximum characters of a list of nodes
STYLES = {"fail": "fail", "warn": "warn", "unknown": "warn", "pass": "ok"}


def render(fleet: Fleet, *, width: int, color: bool, ascii: bool) -> str:
    """Render lines no wider than ``width``."""
    out = TerminalText(width=width, color=color, ascii=ascii)
    out.add(
        (f"gpucheck fleet {fleet.tool['version']}", "title"), f" · {plural(fleet.files, 'report')} · {duration(fleet.seconds)}"
    )
    out.blank()
    for label, style, text in _lines(fleet):
        out.add(text, indent=2, label=(f"{label:9}", style), hang=12)
    out.blank()
    out.add((_conclusion(fleet), STYLES[fleet.verdict]))
    return str(out)


def _lines(fleet: Fleet) -> Iterator[tuple[str, str, str]]:
    """Yield label, style and text of every line."""
    for cause in fleet.causes[:MOST]:
        label, style = ("FAIL", "fail") if cause.severity == "error" else ("WARN", "warn")
        yield (
            label,
            style,
            f"{cause.code} on {_on(cause.count, cause.nodes)} ({cause.scope}). On {cause.example_node}: {cause.example}",
        )
    yield from _more(len(fleet.causes), "cause")
    for why, part in list(fleet.unknown.items())[:MOST]:
        yield "unknown", "warn", f"{_part(part)}: {why}"
    yield from _more(len(fleet.unknown), "reason")
    for why, part in list(fleet.unreached.items())[:MOST]:
        yield "no report", "warn", f"{_part(part)}: {why}"
    yield from _more(len(fleet.unreached), "reason")
    if fleet.missing is not None and fleet.missing.count:
        yield "missing", "warn", f"no report of {_part(fleet.missing)}"
    if fleet.training is not None:
        yield from training_lines.lines(fleet.training, MOST)
    for group in fleet.groups:
        name = f"{group.gpus}: {plural(group.count, 'node')}"
        yield (
            "group",
            "quiet",
            f"{name}, {'all' if group.alike == group.count else f'{group.alike:,}'} match the majority{_usual(group.usual)}",
        )
        for odd in group.odd[:MOST]:
            majority = f"majority: {odd.usual}, on {odd.usual_count:,}"
            yield "differs", "warn", f"{odd.what} {odd.value} on {_on(odd.count, odd.nodes)} ({majority})"
        yield from _more(len(group.odd), "difference")
    for slow in fleet.slow[:MOST]:
        yield "slow", "warn", _slow(slow)
    yield from _more(len(fleet.slow), "slow node")
    for unusual in fleet.unusual[:MOST]:
        yield "file", "warn", f"{unusual.kind}: {unusual.file}: {unusual.why}"
    yield from _more(len(fleet.unusual), "file")


def _more(count: int, what: str) -> Iterator[tuple[str, str, str]]:
    if count > MOST:
        yield "", "quiet", f"and {plural(count - MOST, what)} more (--format json has all)"


def _part(part: Part) -> str:
    return _on(part.count, part.nodes)


def _on(count: int, nodes: str) -> str:
    if len(nodes) > MOST_NAMES:
        nodes = f"{nodes[:MOST_NAMES].rpartition(',')[0]},… (--format json has all)"
    return nodes if count == 1 else f"{count:,} nodes: {nodes}"


def _usual(usual: dict[str, str]) -> str:
    named = [f"{what} {usual[what]}" for what in ("TensorFlow", "driver", "number of GPUs") if what in usual]
    return f" ({', '.join(named)})" if named else ""


def _slow(slow: Slow) -> str:
    times = f"{slow.value / slow.median:.0%} of" if slow.what == "samples/s" else f"{slow.value / slow.median:.1f} times"
    return (
        f"{slow.node}: {times} the usual {slow.what}, {significant(slow.value)} against {significant(slow.median)} ({slow.job})"
    )


def _conclusion(fleet: Fleet) -> str:
    silent = sum(part.count for part in (*fleet.unreached.values(), *([fleet.missing] if fleet.missing is not None else [])))
    words = {"pass": "healthy", "warn": "with warnings", "fail": "with a fault", "unknown": "without a verdict"}
    parts = [f"{fleet.counts[verdict]:,} {word}" for verdict, word in words.items() if fleet.counts.get(verdict)]
    parts += [f"{silent:,} without a report"] * bool(silent)
    nodes = sum(fleet.counts.values()) + silent
    return f"{plural(nodes, 'node')}{': ' if parts else ''}{', '.join(parts)}."
