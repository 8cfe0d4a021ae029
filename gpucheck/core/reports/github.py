"""Workflow commands of GitHub Actions: each root cause becomes an annotation. ``summary`` is for $GITHUB_STEP_SUMMARY.

Source: docs.github.com, "Workflow commands for GitHub Actions". Only 10 annotations of a type are kept per step, so the most
severe come first and the last one counts the rest. Every line is one escaped command: text from the machine (a GPU's name, a
log line) can't start another command.
"""

import re

from gpucheck.core.model import Diagnosis, Report, Severity, Verdict
from gpucheck.core.reports import markdown
from gpucheck.core.reports.shared.findings import first_steps, followers, roots, warnings_fail
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import cut, plain

MOST_PER_TYPE = 10
MESSAGE_BYTES = 4000
SUMMARY_BYTES = 1 << 20

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # a terminal that shows the log would execute them


def render(report: Report) -> str:
    """Render one ``::error``, ``::warning`` or ``::notice`` command per line."""
    strict = warnings_fail(report)
    errors = [root for root in roots(report) if root.severity is Severity.ERROR or strict]
    warnings = [root for root in roots(report) if root not in errors]
    no_verdict = [("no verdict", "\n".join(report.unknown_because or ("no reason given",)))] * (report.verdict is Verdict.UNKNOWN)
    lines = _commands("error", [*no_verdict, *(_finding(report, root) for root in errors)])
    lines += _commands("warning", [_finding(report, root) for root in warnings])
    return "".join(lines or _commands("notice", [("gpucheck", headline(report))]))


def summary(report: Report, room_bytes: int = SUMMARY_BYTES) -> str:
    """Render the report as Markdown without facts, in at most ``room_bytes`` bytes; empty if nothing fits."""
    text = markdown.render(report, facts=False)
    if len(text.encode("utf-8")) <= room_bytes:
        return text
    short = f"# {markdown.title(report)}\n\n{markdown.escape(headline(report))}\n"
    return short if len(short.encode("utf-8")) <= room_bytes else ""


def _finding(report: Report, root: Diagnosis) -> tuple[str, str]:
    lines = [root.summary]
    lines += [f"do: {step}" for step in first_steps(root)]
    lines += [f"also: {follower.code}" for follower in followers(report, root)]
    return root.code, "\n".join(lines)


def _commands(kind: str, entries: list[tuple[str, str]]) -> list[str]:
    if len(entries) > MOST_PER_TYPE:
        kept, rest = entries[: MOST_PER_TYPE - 1], entries[MOST_PER_TYPE - 1 :]
        codes = ", ".join(dict.fromkeys(title for title, _ in rest))
        entries = [*kept, (f"{len(rest)} more", codes)]
    return [command(kind, cut(plain(message), MESSAGE_BYTES), title=plain(title)) for title, message in entries]


def command(kind: str, message: str, **properties: str) -> str:
    """Return one workflow command on its own line, escaped like messages and properties in GitHub's toolkit."""
    written = [f"{name}={_escape(text).replace(':', '%3A').replace(',', '%2C')}" for name, text in properties.items()]
    return f"::{kind} {','.join(written)}::{_escape(message)}\n"


def _escape(text: str) -> str:
    return _CONTROL.sub("", text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
