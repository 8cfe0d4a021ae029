"""Find the root cause in a log: parse lines into events, find their causes, and assemble a report like that of a live run."""

import time
from collections.abc import Callable, Iterable

import msgspec

from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.manual import docstring, page
from gpucheck.core.engine.pipeline import Judgement, assemble
from gpucheck.core.logs import causes
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.log import Log
from gpucheck.core.logs.reading import parse
from gpucheck.core.logs.reading.mentions import Listing
from gpucheck.core.model import Evidence, Finding, Fix, Outcome, ProbeStatus, Reading, Report, Request, Severity, Status
from gpucheck.core.model.plugin import Rule
from gpucheck.core.model.progress import Progress
from gpucheck.core.repairs.fixes import for_xids

TIMED_OUT = "the time limit was reached (--timeout)"


def explain(
    lines: Iterable[str],
    source: str,
    cut: Callable[[], str | None] = lambda: None,
    progress: Progress[Report] | None = None,
) -> Report:
    """Find the root cause of the failure in a log.

    Args:
        lines: the log, as a stream; it is read once.
        source: its name: a file name, "standard input".
        cut: returns, after reading, why the log was not read to its end; None if it was.
        progress: its snapshot becomes the report of the part read so far.

    Returns:
        A report whose only fact is the log. Its findings are like those of a check, except that failures which the text only
        mentions (in source code or advice) are warnings. Without findings it proves nothing about the machine.
    """
    started = time.monotonic()
    listing = Listing()

    read = Progress[Log]()
    if progress is not None:

        def snapshot() -> Report | None:
            log = read.snapshot()
            return None if log is None else _report(log, TIMED_OUT, listing, started)

        progress.snapshot = snapshot
    log = parse(listing.through(lines), source, time.thread_time, read)
    return _report(log, cut(), listing, started)


def _report(log: Log, cut: str | None, listing: Listing, started: float) -> Report:
    log = msgspec.structs.replace(log, cut=cut)
    reading = Reading(probe="log", status=ProbeStatus.OK, fact=log, seconds=round(time.monotonic() - started, 4))
    named = causes.judge(log)
    judgements = [_judgement(rule, named.get(rule.code), listing) for rule in load_rules()]
    return assemble(Request(smoke=False), [reading], judgements, load_rows(), started)


def _judgement(rule: Rule, cause: Cause | None, listing: Listing) -> Judgement:
    if rule.code not in causes.CODES:
        return Judgement(rule, Outcome(code=rule.code, status=Status.SKIPPED, reason="not detectable in a log"), None)
    status = Status.CLEAR if cause is None else Status.FOUND
    return Judgement(rule, Outcome(code=rule.code, status=status), None if cause is None else _finding(rule, cause, listing))


def _finding(rule: Rule, cause: Cause, listing: Listing) -> Finding:
    """Turn a cause into a finding with its page's fixes; a warning if all its lines only mention a failure."""
    only_mentioned = all(listing.only_mentions(event.text) for event in cause.events)
    return Finding(
        summary=cause.summary,
        evidence=tuple(Evidence(fact="log", field=f"line {event.line}", value=event.text) for event in cause.events),
        fix=(*for_xids(cause.xids), *_fixes(rule)),
        affects=cause.affects,
        severity=Severity.WARNING if only_mentioned else cause.severity,
    )


def _fixes(rule: Rule) -> tuple[Fix, ...]:
    """Return the fixes of the rule's page; none if docstrings are not available."""
    text = rule.doc or docstring(rule.check.__module__)
    return page(rule.code, text).fixes if text else ()
