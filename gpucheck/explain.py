"""A pasted log, judged by the same rules as a live run."""

import time
from collections.abc import Iterable

from gpucheck.logs import parse
from gpucheck.model import ProbeStatus, Reading, Report, Request
from gpucheck.pipeline import assemble, judge_log
from gpucheck.plugin import load_rows, load_rules


def explain(lines: Iterable[str], source: str) -> Report:
    """Name the root cause of what went wrong in a log.

    Args:
        lines: the log, as a stream; it is read once.
        source: what it is called: a file's name, "standard input".

    Returns:
        A report whose only fact is the log. Its findings are as those of a check; it has no verdict beyond them, because a
        log without a known failure proves nothing about a machine.
    """
    started = time.monotonic()
    log = parse(lines, source)
    reading = Reading(probe="log", status=ProbeStatus.OK, fact=log, seconds=round(time.monotonic() - started, 4))
    return assemble(Request(smoke=False), [reading], judge_log(log, load_rules()), load_rows(), started)
