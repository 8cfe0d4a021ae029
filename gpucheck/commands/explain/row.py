"""A row of the troubleshooting table: its first check, its diagnoses, and what distinguishes them."""

import json
import re
from collections.abc import Mapping, Sequence

from gpucheck.core.engine import manual
from gpucheck.core.model.plugin import Row, Rule
from gpucheck.core.reports.page import entry, severity, title
from gpucheck.core.reports.shared.terminal_text import TerminalText


def matching(what: str, rows: Mapping[str, Row]) -> list[str]:
    """Return the names of the rows that have this name or problem, or else all of its words."""
    text = " ".join(re.sub("[-_]", " ", what).lower().split())
    if not text or any(sign in what for sign in "./\\"):
        return []
    titles = {name: f"{name} {row.problem}".replace("-", " ").lower() for name, row in rows.items()}
    if exact := [name for name, row in rows.items() if text in (name.replace("-", " "), row.problem.replace("-", " ").lower())]:
        return exact
    words = [re.compile(rf"\b{re.escape(word)}") for word in text.split()]
    return [name for name, title in titles.items() if all(word.search(title) for word in words)]


def render(name: str, row: Row, rules: Sequence[Rule], style: str, *, width: int, color: bool, ascii: bool) -> str:
    """Render a row as "terminal" (which uses width, color and ascii) or "json".

    Args:
        name: of the row: "out-of-memory".
        row: itself.
        rules: all rules, with their pages.
        style: of the output.
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
    """Return the lines of the page's section."""
    lines = manual.page_of(rule).sections["Symptom"].splitlines()
    return [line.strip().removeprefix("- ") for line in lines if line.strip()]
