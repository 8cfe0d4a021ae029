"""Render drift for a terminal, and as Markdown."""

from gpucheck.commands.expectations.drift import Change, Drift
from gpucheck.core.reports.shared.evidence import LONG_TEXT
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.words import clean, plural


def render(drift: Drift, *, width: int, color: bool, ascii: bool, verbose: bool) -> str:
    """Render the changes by group; "" without changes. ``verbose``: also what was not compared."""
    out = TerminalText(width=width, color=color, ascii=ascii)
    for group, changes in groups(drift).items():
        out.add((group, "title"))
        out.add((changes[0].why, "quiet"), indent=2)
        for change in changes:
            out.add(f"{change.what}: {_old(change)} {'->' if ascii else '→'} {_new(change)}", indent=2, hang=4)
        out.blank()
    if verbose and drift.not_compared:
        out.add(("not compared", "title"))
        for words in drift.not_compared:
            out.add(words, indent=2, hang=4)
        out.blank()
    if drift.changes:
        out.add(f"{plural(len(drift.changes), 'difference')} between {drift.baseline} and {drift.current}.")
    return str(out) if drift.changes or (verbose and drift.not_compared) else ""


def render_markdown(drift: Drift) -> str:
    """Render a table per group; "" without changes."""
    lines = []
    for group, changes in groups(drift).items():
        lines += [f"### {group}", "", changes[0].why, "", "| what | baseline | now |", "| --- | --- | --- |"]
        lines += [f"| {_cell(change.what)} | {_cell(_old(change))} | {_cell(_new(change))} |" for change in changes]
        lines.append("")
    if lines:
        lines += [f"{plural(len(drift.changes), 'difference')} between `{drift.baseline}` and `{drift.current}`.", ""]
    return "\n".join(lines)


def groups(drift: Drift) -> dict[str, list[Change]]:
    """Return the changes by group, in their order."""
    grouped: dict[str, list[Change]] = {}
    for change in drift.changes:
        grouped.setdefault(change.group, []).append(change)
    return grouped


def _old(change: Change) -> str:
    return _cut(change.old) if change.old is not None else "absent"


def _new(change: Change) -> str:
    note = f", {change.note}" if change.note else ""
    return _cut(change.new) + note if change.new is not None else "absent"


def _cut(text: str) -> str:
    return text if len(text) <= LONG_TEXT else f"{text[: LONG_TEXT - 1]}… ({len(text):,} characters)"


def _cell(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
