"""The troubleshooting table for ``gpucheck rules`` and the docs: the codes by row, with severity, scope and one line."""

import json
from collections.abc import Sequence

from gpucheck.core.model.plugin import Row, Rule
from gpucheck.core.reports.page import entry, severity, title
from gpucheck.core.reports.shared.terminal_text import TerminalText


def render(rules: Sequence[Rule], rows: dict[str, Row], style: str = "terminal", *, width: int, color: bool, ascii: bool) -> str:
    """Render the table as "terminal" (which uses width, color and ascii), "json" or "markdown"."""
    if style == "json":
        return json.dumps([entry(rule, rows[rule.row]) for rule in rules], indent=2, ensure_ascii=False) + "\n"
    return _markdown(rules, rows) if style == "markdown" else _terminal(rules, rows, width, color, ascii)


def _terminal(rules: Sequence[Rule], rows: dict[str, Row], width: int, color: bool, ascii: bool) -> str:
    out = TerminalText(width=width, color=color, ascii=ascii)
    column = max((len(rule.code) for rule in rules), default=0) + 4
    for name, row in rows.items():
        out.blank()
        out.add((row.problem, "title"), f"  first check: {row.first_check}; then: {row.action}", hang=2)
        for rule in rules:
            if rule.row != name:
                continue
            out.add(
                severity(rule),
                f" ({rule.scope.value}) {title(rule)}",
                indent=2,
                label=(rule.code, "title"),
                hang=column if width >= column + 40 else 6,
            )
    return str(out)


def _markdown(rules: Sequence[Rule], rows: dict[str, Row]) -> str:
    lines = ["| problem | code | severity | scope | meaning |", "| --- | --- | --- | --- | --- |"]
    for name, row in rows.items():
        for rule in rules:
            if rule.row == name:
                meaning = title(rule).replace("|", "\\|")
                lines.append(f"| {row.problem} | `{rule.code}` | {rule.severity.value} | {rule.scope.value} | {meaning} |")
    return "\n".join(lines) + "\n"
