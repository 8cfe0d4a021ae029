"""The troubleshooting table for ``gpucheck rules`` and the docs, one of its rows, and the rules that both list.

These are the rules for machines, and those of commands with their own rules, such as ``lint``.
"""

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from gpucheck.cli import registry
from gpucheck.commands.explain.page import entry, severity, title
from gpucheck.core.engine import discovery, manual
from gpucheck.core.model.plugin import Row, Rule
from gpucheck.core.reports.shared.terminal_text import TerminalText


def load_rules() -> tuple[Rule, ...]:
    """Return the rules for machines and those for training scripts, with their pages."""
    rules = (*discovery.load_rules(), *(rule for pages in _other_pages() for rule in pages.load_rules()))
    return tuple(rule if rule.doc else replace(rule, doc=manual.docstring(rule.check.__module__)) for rule in rules)


def load_rows() -> dict[str, Row]:
    """Return the rows of the troubleshooting table that the rules belong to."""
    return {**discovery.load_rows(), **{name: row for pages in _other_pages() for name, row in pages.ROWS.items()}}


def _other_pages() -> list[Any]:
    """Return the modules of commands with their own rules and pages."""
    return [importlib.import_module(folder.PAGES) for folder in registry.folders() if hasattr(folder, "PAGES")]


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


def matching(what: str, rows: Mapping[str, Row]) -> list[str]:
    """Return the names of the rows with this name or problem, or else of those that contain all of its words."""
    text = " ".join(re.sub("[-_]", " ", what).lower().split())
    if not text or any(sign in what for sign in "./\\"):
        return []
    titles = {name: f"{name} {row.problem}".replace("-", " ").lower() for name, row in rows.items()}
    if exact := [name for name, row in rows.items() if text in (name.replace("-", " "), row.problem.replace("-", " ").lower())]:
        return exact
    words = [re.compile(rf"\b{re.escape(word)}") for word in text.split()]
    return [name for name, title in titles.items() if all(word.search(title) for word in words)]


def render_row(name: str, row: Row, rules: Sequence[Rule], style: str, *, width: int, color: bool, ascii: bool) -> str:
    """Render a row as "terminal" (which uses width, color and ascii) or "json".

    Args:
        name: name of the row: "out-of-memory".
        row: the row.
        rules: all rules, with their pages.
        style: format of the output.
        width: terminal cells per line.
        color: whether to use escape codes.
        ascii: whether to use only ASCII.
    """
    own = [rule for rule in rules if rule.row == name]
    if style == "json":
        head = {"row": name, "problem": row.problem, "first_check": row.first_check, "action": row.action}
        diagnoses = [{**entry(rule, row), "symptoms": _symptoms(rule)} for rule in own]
        return json.dumps({**head, "diagnoses": diagnoses}, indent=2, ensure_ascii=False) + "\n"
    out = TerminalText(width=width, color=color, ascii=ascii)
    out.add((row.problem, "title"))
    out.add(f"first check: {row.first_check}; then: {row.action}", indent=2, hang=4)
    for rule in own:
        out.blank()
        out.add((rule.code, "title"), " · ", severity(rule), indent=2)
        out.add(title(rule), indent=4)
        out.add((f"shows as: {_symptoms(rule)[0]}", "quiet"), indent=4, hang=6)
    out.blank()
    out.add("gpucheck explain CODE prints the page of a diagnosis.")
    return str(out)


def _symptoms(rule: Rule) -> list[str]:
    """Return the lines of the section "Symptom" of the rule's page."""
    lines = manual.page_of(rule).sections["Symptom"].splitlines()
    return [line.strip().removeprefix("- ") for line in lines if line.strip()]
