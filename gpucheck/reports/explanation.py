"""What a log says went wrong, for a person at a terminal: the cause, the lines that show it, what to type."""

from collections.abc import Sequence
from typing import Any

from gpucheck.model import Report, Severity
from gpucheck.reports import _findings
from gpucheck.reports._sheet import Sheet
from gpucheck.reports._words import duration, plural

MOST_SUSPECTS = 8
_ENDS = ("exception", "fatal")  # what a line looks like that may have ended a program
_OF_ANY_CAUSE = ("traceback", "killed")  # kinds of events that are about no subject of their own


def render(report: Report, *, width: int, color: bool, ascii: bool, verbose: bool) -> str:
    """The findings of a log as lines no wider than ``width``, commands excepted.

    Args:
        report: made by ``gpucheck.engine.explain``: its only fact that was looked at is the log.
        width: terminal cells per line.
        color: whether escape codes may be written.
        ascii: whether only ASCII may be written.
        verbose: with every harmless line and why it is harmless.
    """
    sheet = Sheet(width=width, color=color, ascii=ascii)
    log = report.facts["log"]
    if report.findings and (left := _unexplained(report, log)):
        sheet.add("The warnings below need not have ended the program. These lines look most like failures:", hang=2)
        _suspects(sheet, left)
    _findings.write(sheet, report, verbose)
    if not report.findings:
        _unknown(sheet, log)
    if verbose and log.get("harmless"):
        sheet.blank()
        sheet.add("Lines that look bad and are harmless:", indent=2)
        for event in log["harmless"]:
            sheet.add(event["text"], indent=4, label=(f"line {event['line']}", "quiet"), hang=16)
            sheet.add((event["fields"].get("reason", ""), "quiet"), indent=16)
    sheet.blank()
    sheet.add((_conclusion(report, log), "quiet"))
    return str(sheet)


def _unknown(sheet: Sheet, log: dict[str, Any]) -> None:
    suspects = log.get("suspects") or ()
    if not suspects:
        sheet.add("No known failure is in this log, and no line of it looks like one.", hang=2)
        return
    sheet.add("No known cause is in this log. These lines look most like failures:", hang=2)
    _suspects(sheet, suspects)


def _suspects(sheet: Sheet, suspects: Sequence[dict[str, Any]]) -> None:
    for event in suspects[:MOST_SUSPECTS]:
        sheet.add(event["text"], indent=4, label=(f"line {event['line']}", "quiet"), hang=16)


def _unexplained(report: Report, log: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines that may tell what ended the program where all findings are warnings, which by themselves end none.

    An exception or a crash that no finding rests on; and an error that nobody knows, printed after the last line that one does.
    """
    if any(finding.severity is Severity.ERROR for finding in report.findings):
        return []
    texts = {str(item.value) for finding in report.findings for item in finding.evidence}
    kinds = {event["kind"] for event in log["events"] if event["text"] in texts}.difference(_OF_ANY_CAUSE)
    cited = {event["line"] for event in log["events"] if event["kind"] in kinds or event["text"] in texts}
    known = {event["line"] for event in log["events"] if event["kind"] not in _OF_ANY_CAUSE}
    last = max(cited, default=0)
    return [
        event
        for event in log.get("suspects") or ()
        if event["line"] not in cited
        and (
            event["fields"]["looks"] in _ENDS
            or (event["fields"]["looks"] == "error" and event["line"] > last and event["line"] not in known)
        )
    ]


def _conclusion(report: Report, log: dict[str, Any]) -> str:
    harmless = log.get("harmless_lines") or 0
    looks = "looks bad and is harmless" if harmless == 1 else "look bad and are harmless"
    noise = f", {harmless} {looks} (-v)" if harmless else ""
    return f"{log['source']}: {plural(log['lines'], 'line')}{noise} · {duration(report.seconds)}"
