"""Find the root cause in a log: parse lines into events, find their causes, and assemble a report like that of a live run."""

import time
from collections.abc import Callable, Iterable

import msgspec

from gpucheck.commands.explain.context import ContextReader
from gpucheck.commands.explain.rules import load_rows, load_rules
from gpucheck.core.engine import discovery
from gpucheck.core.engine.judgement import Judgement
from gpucheck.core.engine.manual import docstring, page
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.logs import causes
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.log import ENDS, Log
from gpucheck.core.logs.reading import parse
from gpucheck.core.logs.reading.mentions import Listing
from gpucheck.core.model import Evidence, Finding, Fix, Outcome, ProbeStatus, Reading, Report, Request, Severity, Status
from gpucheck.core.model.plugin import Rule
from gpucheck.core.model.progress import Progress
from gpucheck.core.repairs.choice import choose
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import for_xids

LINT = (Fix(text="Find the lines of your program that cause it", command="gpucheck lint TRAIN.py", kind="look"),)
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
    first = FirstLines()
    read = Progress[Log]()
    if progress is not None:

        def snapshot() -> Report | None:
            log = read.snapshot()
            return None if log is None else _report(log, TIMED_OUT, first, started)

        progress.snapshot = snapshot
    log = parse(first.through(lines), source, time.thread_time, read)
    return _report(log, cut(), first, started)


class FirstLines:
    """What the first lines of a log show of the whole."""

    def __init__(self) -> None:
        self.listing, self.reader = Listing(), ContextReader()

    def through(self, lines: Iterable[str]) -> Iterable[str]:
        """Yield the same lines."""
        return self.reader.through(self.listing.through(lines))


def _report(log: Log, cut: str | None, first: FirstLines, started: float) -> Report:
    log = msgspec.structs.replace(log, cut=cut)
    reading = Reading(probe="log", status=ProbeStatus.OK, fact=log, seconds=round(time.monotonic() - started, 4))
    every, of_machines = load_rules(), discovery.load_rows()
    rules = [rule for rule in every if rule.code in causes.CODES or rule.row in of_machines]
    named = _relevant(causes.judge(log), rules, log)
    context = first.reader.context(log) if named else Context()
    of_programs = {code for rule in every if rule.row not in of_machines for code in (rule.code, *rule.explains)}
    judgements = [
        _judgement(rule, named.get(rule.code), first.listing, context, LINT if rule.code in of_programs else ()) for rule in rules
    ]
    return assemble(Request(smoke=False), [reading], judgements, load_rows(), started)


def _relevant(named: dict[str, Cause], rules: Iterable[Rule], log: Log) -> dict[str, Cause]:
    """Leave out that a machine has no GPU, which nothing in the log asks for, if something else is wrong.

    That is another cause, or an exception that no cause explains: the program may have ended with a wrong argument.
    """
    intended = {code for code, cause in named.items() if cause.intended}
    follow = {code for rule in rules if rule.code in intended for code in rule.explains}
    if not named.keys() <= intended | follow:
        return {code: cause for code, cause in named.items() if code not in intended}
    cited = {event.line for cause in named.values() for event in cause.events}
    ended = any(event.fields["looks"] in ENDS and event.line not in cited for event in log.suspects)
    return {} if intended and ended else named


def _judgement(rule: Rule, cause: Cause | None, listing: Listing, context: Context, more: tuple[Fix, ...]) -> Judgement:
    if rule.code not in causes.CODES:
        return Judgement(rule, Outcome(code=rule.code, status=Status.SKIPPED, reason="not detectable in a log"), None)
    status = Status.CLEAR if cause is None else Status.FOUND
    finding = None if cause is None else _finding(rule, cause, listing, context, more)
    return Judgement(rule, Outcome(code=rule.code, status=status), finding)


def _finding(rule: Rule, cause: Cause, listing: Listing, context: Context, more: tuple[Fix, ...]) -> Finding:
    """Turn a cause into a finding with its rule's repairs; a warning if all its lines only mention a failure."""
    more = () if context.excludes(framework="tensorflow") else more
    only_mentioned = all(listing.only_mentions(event.text) for event in cause.events)
    return Finding(
        summary=cause.summary,
        evidence=tuple(Evidence(fact="log", field=f"line {event.line}", value=event.text) for event in cause.events),
        fix=(*for_xids(cause.xids), *choose([*_repairs(rule, cause, context), *more], context)),
        affects=cause.affects,
        severity=Severity.WARNING if only_mentioned else cause.severity,
    )


def _repairs(rule: Rule, cause: Cause, context: Context) -> Iterable[Fix]:
    """Return the repairs of a rule for what the cause's lines name; those of its page if the rule has no function for them."""
    if rule.repairs is None:
        text = rule.doc or docstring(rule.check.__module__)
        return page(rule.code, text).fixes if text else ()
    return rule.repairs(context, **cause.values(rule.repairs.__kwdefaults__ or ()))
