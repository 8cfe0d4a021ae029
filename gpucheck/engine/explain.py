"""A pasted log, judged by the same rules as a live run."""

import time
from collections.abc import Iterable

import msgspec

from gpucheck.engine.pipeline import Judgement, assemble, judge_log
from gpucheck.engine.plugin import load_rows, load_rules
from gpucheck.logs.reading import parse
from gpucheck.logs.reading.hearsay import Listing
from gpucheck.model import ProbeStatus, Reading, Report, Request, Severity


def explain(lines: Iterable[str], source: str) -> Report:
    """Name the root cause of what went wrong in a log.

    Args:
        lines: the log, as a stream; it is read once.
        source: what it is called: a file's name, "standard input".

    Returns:
        A report whose only fact is the log. Its findings are as those of a check, except that what a text only speaks of
        (source code, advice for a case that may come) is a warning. It has no verdict beyond them, because a log without a
        known failure proves nothing about a machine.
    """
    started = time.monotonic()
    listing = Listing()
    log = parse(listing.through(lines), source)
    reading = Reading(probe="log", status=ProbeStatus.OK, fact=log, seconds=round(time.monotonic() - started, 4))
    judgements = [_weighed(judgement, listing) for judgement in judge_log(log, load_rules())]
    return assemble(Request(smoke=False), [reading], judgements, load_rows(), started)


def _weighed(judgement: Judgement, listing: Listing) -> Judgement:
    """The judgement, as a warning where every line it rests on only speaks of a failure."""
    finding = judgement.finding
    if finding is None or not finding.evidence or not all(listing.speaks_of(str(item.value)) for item in finding.evidence):
        return judgement
    return judgement._replace(finding=msgspec.structs.replace(finding, severity=Severity.WARNING))
