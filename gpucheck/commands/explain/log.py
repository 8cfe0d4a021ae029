"""Find the root cause in a log: parse lines into events, find their causes, and assemble a report like that of a live run."""

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from gpucheck.commands.explain.context import ContextReader
from gpucheck.commands.explain.table import load_rows, load_rules
from gpucheck.core.engine import discovery
from gpucheck.core.engine.judgement import Judgement
from gpucheck.core.engine.manual import docstring, page
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.logs import causes
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.log import ENDS, Log
from gpucheck.core.logs.reading import parse
from gpucheck.core.logs.reading.kept import LOOKS, SUSPECTS
from gpucheck.core.logs.reading.mentions import Listing
from gpucheck.core.logs.reading.reader import HARMLESS
from gpucheck.core.model import Evidence, Finding, Fix, Outcome, ProbeStatus, Reading, Report, Request, Severity, Status
from gpucheck.core.model.plugin import Rule
from gpucheck.core.model.progress import Progress
from gpucheck.core.repairs.choice import choose
from gpucheck.core.repairs.context import Context
from gpucheck.core.reports.shared.words import plural
from gpucheck.core.system.shells import word

LINT = (Fix(text="Find the lines of your program that cause it", command="gpucheck lint TRAIN.py", kind="look"),)
MOST_CITED = 6  # lines of a finding
# Windows paths, without characters that a shell expands inside double quotes: the log may be untrusted.
_WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/][\w .\\/-]*")
NO_PROOF = ("a log without a known failure does not prove that the machine works",)
TIMED_OUT = "the time limit was reached (--timeout)"


def explain(
    files: Iterable[tuple[str, Iterable[str]]],
    source: str,
    cut: Callable[[], str | None] = lambda: None,
    progress: Progress[Report] | None = None,
) -> Report:
    """Find the root cause of the failure in a log, or in the logs of one archive: each is judged alone, and the first definite
    cause is used.

    Args:
        files: name and lines of each log, as streams, which are read once. A single log has no name; otherwise each cited line
            begins with the name.
        source: the name of the log or archive: a file name, "standard input".
        cut: returns, after reading, why the log was not read completely; None if it was.
        progress: its snapshot becomes the report of the part read so far.

    Returns:
        A report whose only fact is the log. Its findings are like those of a check, except that failures which the text only
        mentions (in source code or advice) are warnings. Without findings it is no statement about the machine.
    """
    started = time.monotonic()
    parts: list[Part] = []
    reading = Progress[Log]()
    name, listing, reader = "", Listing(), ContextReader()

    def snapshot() -> Report | None:
        log = reading.snapshot()
        known = parts if log is None else [*parts, Part(name, log, listing, reader)]
        return _report(known, source, TIMED_OUT, started) if known else None

    if progress is not None:
        progress.snapshot = snapshot
    for name, lines in files:
        listing, reader = Listing(), ContextReader()
        log = parse(reader.through(listing.through(lines)), name or source, time.thread_time, reading)
        reading.snapshot = lambda: None
        parts.append(Part(name, log, listing, reader))
    return _report(parts, source, cut(), started)


class Part(NamedTuple):
    """One log."""

    name: str  # of its file in an archive; empty: the log is alone
    log: Log
    listing: Listing  # these two read its first lines
    reader: ContextReader

    def causes(self, warnings: Collection[str]) -> dict[str, Cause]:
        """Return the log's causes, by code; a warning if all lines only mention a failure. ``warnings``: see ``causes.judge``."""
        return {code: self._weighed(cause) for code, cause in causes.judge(self.log, warnings).items()}

    def cited(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Return the log's events, with the file's name in their text."""
        if not self.name:
            return tuple(events)
        return tuple(msgspec.structs.replace(event, text=f"{self.name}: {event.text}") for event in events)

    def located(self, fix: Fix) -> Fix:
        """Return the advice to lint, with the program's file that the log mentions."""
        if self.reader.program is None:
            return fix
        file, line = self.reader.program
        text = f"{fix.text}; the log mentions line {line} of this file"
        quoted = f'"{file}"' if _WINDOWS_PATH.fullmatch(file) else word(file)
        return msgspec.structs.replace(fix, text=text, command=f"gpucheck lint {quoted}")

    def _weighed(self, cause: Cause) -> Cause:
        only_mentioned = all("raised" not in event.fields and self.listing.only_mentions(event.text) for event in cause.events)
        return cause.weakened() if only_mentioned else cause

    @property
    def context(self) -> Context:
        """Return the context of the log's repairs."""
        return self.reader.context(self.log)


def _report(parts: Sequence[Part], source: str, cut: str | None, started: float) -> Report:
    log = msgspec.structs.replace(_joined(parts, source), cut=cut)
    reading = Reading(probe="log", status=ProbeStatus.OK, fact=log, seconds=round(time.monotonic() - started, 4))
    every, of_machines = load_rules(), discovery.load_rows()
    rules = [rule for rule in every if rule.code in causes.CODES or rule.row in of_machines]
    found = _causes_by_code(parts, {rule.code: rule for rule in rules})
    named = _relevant({code: places[0][1] for code, places in found.items()}, rules, log)
    of_programs = {code for rule in every if rule.row not in of_machines for code in (rule.code, *rule.explains)}
    severities = {rule.code: rule.severity for rule in rules}
    warnings = tuple(code for code, cause in named.items() if (cause.own_severity or severities[code]) is Severity.WARNING)
    judgements = [
        _judgement(rule, found[rule.code] if rule.code in named else [], LINT if rule.code in of_programs else (), warnings)
        for rule in rules
    ]
    report = assemble(Request(smoke=False), [reading], judgements, load_rows(), started)
    return msgspec.structs.replace(report, unknown_because=NO_PROOF) if report.unknown_because else report


def _joined(parts: Sequence[Part], source: str) -> Log:
    """Return the logs as one."""
    suspects = sorted((event for part in parts for event in part.cited(part.log.suspects)), key=_rank)
    if parts and parts[0].name:
        empty_count = sum(not part.log.lines for part in parts)
        source += f" ({plural(len(parts), 'file')}{f', {empty_count} of them empty or not text' if empty_count else ''})"
    return Log(
        source=source,
        events=tuple(event for part in parts for event in part.cited(part.log.events)),
        lines=sum(part.log.lines for part in parts),
        skimmed=sum(part.log.skimmed for part in parts),
        suspects=tuple(suspects[:SUSPECTS] if len(parts) > 1 else (event for part in parts for event in part.log.suspects)),
        harmless=tuple(event for part in parts for event in part.cited(part.log.harmless))[:HARMLESS],
        harmless_lines=sum(part.log.harmless_lines for part in parts),
    )


def _rank(event: Event) -> int:
    return LOOKS.index(event.fields["looks"])


def _causes_by_code(parts: Iterable[Part], rules: Mapping[str, Rule]) -> dict[str, list[tuple[Part, Cause]]]:
    """Return where each cause was found, by code: errors first."""
    found: dict[str, list[tuple[Part, Cause]]] = {}
    warnings = {code for code, rule in rules.items() if rule.severity is Severity.WARNING}
    for part in parts:
        for code, cause in part.causes(warnings).items():
            if code in rules:
                found.setdefault(code, []).append((part, cause))
    for code, places in found.items():
        places.sort(key=lambda place: (place[1].own_severity or rules[code].severity) is Severity.WARNING)
    return found


def _relevant(named: dict[str, Cause], rules: Iterable[Rule], log: Log) -> dict[str, Cause]:
    """Omit the cause "no GPU" if nothing in the log requests a GPU and there is another problem.

    The other problem is another cause, or an exception that no cause explains, such as a wrong argument.
    """
    intended = {code for code, cause in named.items() if cause.intended}
    follow = {code for rule in rules if rule.code in intended for code in rule.explains}
    if not named.keys() <= intended | follow:
        return {code: cause for code, cause in named.items() if code not in intended}
    cited = {event.line for cause in named.values() for event in cause.events}
    ended = any(event.fields["looks"] in ENDS and event.line not in cited for event in log.suspects)
    return {} if intended and ended else named


def _judgement(rule: Rule, places: Sequence[tuple[Part, Cause]], more: tuple[Fix, ...], warnings: tuple[str, ...]) -> Judgement:
    if rule.code not in causes.CODES:
        return Judgement(rule, Outcome(code=rule.code, status=Status.SKIPPED, reason="not detectable in a log"), None)
    status = Status.FOUND if places else Status.CLEAR
    finding = _finding(rule, places, more) if places else None
    if finding is not None and finding.severity is not Severity.WARNING:
        finding = msgspec.structs.replace(finding, not_explained_by=warnings)
    return Judgement(rule, Outcome(code=rule.code, status=status), finding)


def _finding(rule: Rule, places: Sequence[tuple[Part, Cause]], more: tuple[Fix, ...]) -> Finding:
    """Turn a cause into a finding with its rule's repairs; a line of each other file in which it was found is also cited."""
    part, cause = places[0]
    context = part.context
    more = () if context.excludes(framework="tensorflow") else tuple(part.located(fix) for fix in more)
    events = [*part.cited(cause.events), *(event for other, same in places[1:] for event in other.cited(same.events[:1]))]
    return Finding(
        summary=f"{part.name}: {cause.summary}" if part.name else cause.summary,
        evidence=tuple(Evidence(fact="log", field=f"line {event.line}", value=event.text) for event in events[:MOST_CITED]),
        fix=choose([*_repairs(rule, cause, context), *more], context),
        affects=cause.affects,
        action=cause.action,
        severity=cause.own_severity,
    )


def _repairs(rule: Rule, cause: Cause, context: Context) -> Iterable[Fix]:
    """Return the rule's repairs for the values in the cause's lines; without such a function, those of its page."""
    if rule.repairs is None:
        text = rule.doc or docstring(rule.check.__module__)
        return page(rule.code, text).fixes if text else ()
    return rule.repairs(context, **cause.values(rule.repairs.__kwdefaults__ or ()))
