"""A rule's manual page, for ``gpucheck explain CODE`` and for the docs."""

import json
import re
from typing import Any

from gpucheck.core.engine.manual import SECTIONS, Page
from gpucheck.core.model.plugin import Row, Rule
from gpucheck.core.reports.shared.terminal_text import TerminalText

LITERAL = ("Symptom", "References")  # printed line by line; the other sections are wrapped prose
ITEM = re.compile(r"\s*(?:\d+[.)]|[-*])\s+")

HEADINGS = {"Unless": "When to ignore it"}  # clearer headings of some sections
ALSO = "Also shows up as"  # the heading for the diagnoses that it explains


def render(page: Page, rule: Rule, row: Row, *, width: int, color: bool, ascii: bool) -> str:
    """Render the page for a terminal: prose is wrapped to ``width``, and a command at its end gets its own line."""
    out = TerminalText(width=width, color=color, ascii=ascii)
    out.flow((page.code, "title"), severity(rule), f"scope: {rule.scope.value}", row.problem)
    out.blank()
    out.add((page.title, "title"))
    for name in SECTIONS:
        out.blank()
        out.add((HEADINGS.get(name, name), "title"))
        column = 4  # lines after the first of a list item are indented to its text
        for prose, commands in blocks(page, name):
            marker = item[0] if (item := ITEM.match(prose)) else ""
            column = 4 + len(marker) if marker else column
            if marker:
                out.add(prose.removeprefix(marker), indent=4, label=marker, hang=column)
            elif name == "References":
                out.command(prose, column)  # an address is copied, too, so it is not broken
            elif prose:
                out.add(prose, indent=column)
            for command in commands:
                out.command(command, column)
    if rule.explains:
        out.blank()
        out.add((ALSO, "title"))
        out.add(", ".join(rule.explains), indent=4)
    return str(out)


def severity(rule: Rule) -> tuple[str, str]:
    """Return the severity of a rule, with its style on a terminal."""
    return rule.severity.value, "fail" if rule.severity.value == "error" else "warn"


def render_json(page: Page, rule: Rule, row: Row) -> str:
    """Render the page as one JSON object."""
    sections = {name.lower(): text for name, text in page.sections.items()}
    data = {"code": rule.code, "title": title(rule), **entry(rule, row), "sections": sections}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def entry(rule: Rule, row: Row) -> dict[str, Any]:
    """Return the JSON object of a rule, for its page and for lists of rules."""
    return {
        "row": rule.row,
        "problem": row.problem,
        "first_check": rule.first_check or row.first_check,
        "action": row.action,
        "code": rule.code,
        "severity": rule.severity.value,
        "scope": rule.scope.value,
        "title": title(rule),
        "explains": list(rule.explains),
    }


def title(rule: Rule) -> str:
    """Return the first line of a rule's page."""
    return rule.doc.strip().partition("\n")[0].strip()


def blocks(page: Page, section: str) -> list[tuple[str, list[str]]]:
    """Return a section as paragraphs: (prose on one line, the commands after it).

    Lines of prose are joined; a blank line or a list marker starts a new paragraph. A line with "$ " is a command, one with
    "? " is a command that changes nothing. Only the summary of the example is shown: the rest is for the test suite.
    """
    text = page.sections[section]
    if section == "Example" and text.startswith("bad:\n"):  # example programs of a rule for training scripts
        bad, _, good = text.removeprefix("bad:\n").partition("\ngood:\n")
        return [("Reported:", _dedented(bad)), ("Not reported:", _dedented(good))]
    if section == "Example":
        return [(page.example.summary, [])]
    if section in LITERAL:
        return [(line.strip(), []) for line in text.splitlines() if line.strip()]
    paragraphs: list[tuple[str, list[str]]] = []
    begin = True
    for line in map(str.strip, text.splitlines()):
        if not line:
            begin = True
            continue
        prose, commands = ("", [line[2:]]) if line.startswith(("$ ", "? ")) else (line, [])
        if begin or ITEM.match(line) or (paragraphs[-1][1] and prose):
            paragraphs.append((prose, commands))
        else:
            paragraphs[-1] = (f"{paragraphs[-1][0]} {prose}".rstrip(), [*paragraphs[-1][1], *commands])
        begin = False
    return paragraphs


def _dedented(code: str) -> list[str]:
    return [line.removeprefix("    ") for line in code.rstrip().splitlines()]
