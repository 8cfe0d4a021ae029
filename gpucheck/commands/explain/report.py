"""The result for a log on a terminal: the cause, the lines that show it, and the fix."""

from collections.abc import Sequence

from gpucheck.core.logs.events import Event
from gpucheck.core.logs.log import ENDS, Log
from gpucheck.core.model import Report, Severity
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.words import duration, plural
from gpucheck.core.reports.terminal import write_findings

MOST_SUSPECTS = 8
MOST_PASTED = 5  # lines of a message that was pasted alone: if it is harmless, that is the result
_OF_ANY_CAUSE = ("traceback", "killed")  # kinds of events that do not point to a cause


def render(report: Report, *, width: int, color: bool, ascii: bool, verbose: bool) -> str:
    """Render the findings of a log, in lines no wider than ``width`` except for commands.

    Args:
        report: report from ``gpucheck.commands.explain.log``: its only observed fact is the log.
        width: terminal cells per line.
        color: whether to use escape codes.
        ascii: whether to use only ASCII.
        verbose: also list each harmless line, and why it is harmless.
    """
    out = TerminalText(width=width, color=color, ascii=ascii)
    log = report.fact(Log)
    assert log is not None  # noqa: S101 - see above
    if report.findings and (unexplained := _unexplained(report, log)):
        out.add("The warnings below may not have ended the program. These lines look most like failures:", hang=2)
        _suspects(out, unexplained)
    write_findings(out, report, verbose)
    if not report.findings:
        _unknown(out, log)
    nothing_found = not report.findings and not log.suspects and log.lines <= MOST_PASTED
    if log.harmless and (verbose or nothing_found):
        out.blank()
        out.add("Harmless lines that look like errors:", indent=2)
        for event in log.harmless:
            _write_line(out, event)
            out.add((event.fields.get("reason", ""), "quiet"), indent=16)
    out.blank()
    if log.cut is not None:
        lines = f"only the first {plural(log.lines, 'line')}" if log.lines else "nothing"
        out.add(f"{lines[:1].upper()}{lines[1:]} of this log could be read: {log.cut}.")
    if log.skimmed:
        out.add(f"{log.skimmed} of its {log.lines} lines were skipped: it has too many different lines to check each one.")
    out.add((_conclusion(report, log), "quiet"))
    return str(out)


def _unknown(out: TerminalText, log: Log) -> None:
    what = "this log" if log.cut is None else "the part of this log that was read"
    if not log.suspects:
        out.add(f"No known failure was found in {what}, and no line looks like one.", hang=2)
        return
    out.add(f"No known cause was found in {what}. These lines look most like failures:", hang=2)
    _suspects(out, log.suspects)


def _suspects(out: TerminalText, suspects: Sequence[Event]) -> None:
    for event in suspects[:MOST_SUSPECTS]:
        _write_line(out, event)


def _write_line(out: TerminalText, event: Event) -> None:
    out.add(event.text, indent=4, label=(f"line {event.line}", "quiet"), hang=16)


def _unexplained(report: Report, log: Log) -> list[Event]:
    """Return the lines that may show what ended the program if all findings are warnings, which do not end a program.

    These are exceptions and crashes that no finding cites, and unknown errors after the last cited line.
    """
    if any(finding.severity is Severity.ERROR for finding in report.findings):
        return []
    texts = {str(item.value) for finding in report.findings for item in finding.evidence}
    kinds = {event.kind for event in log.events if event.text in texts}.difference(_OF_ANY_CAUSE)
    cited = {event.line for event in log.events if event.kind in kinds or event.text in texts}
    explained = {event.line for event in log.events if event.kind not in _OF_ANY_CAUSE}
    last = max(cited, default=0)
    return [
        event
        for event in log.suspects
        if event.line not in cited
        and (
            event.fields["looks"] in ENDS
            or (event.fields["looks"] == "error" and event.line > last and event.line not in explained)
        )
    ]


def _conclusion(report: Report, log: Log) -> str:
    noise = f", {log.harmless_lines} harmless (-v)" if log.harmless_lines else ""
    return f"{log.source}: {plural(log.lines, 'line')}{noise} · {duration(report.seconds)}"
