"""Lines that look like failures, whatever they are about: what is left to show of a log that nobody knows."""

import re

from gpucheck.logs.signatures import Fields, each
from gpucheck.probes.log import Event

KIND = "suspect"
MOST = 8

# A traceback quotes source text, and reports count failures that did not happen.
_QUOTED = re.compile(r"File \"|(?:raise|return|except|def|from|import|assert|try|with|if|elif|class)\b(?!.*Error:)|[\^~]+$|#")
_NONE = re.compile(
    r"(?i)\b(?:no|0|zero|without|any) (?:\w+ )?(?:errors?|failures?|failed)\b"
    r"|\b(?:errors?|fail(?:ed|ures?))\b\W{1,3}(?:0|none|null|no)\b|\berrors?\W{1,3}\d*\.\d"
    r"|\b(?:error|failure)s?\W{0,3}(?:rate|bars?|handl\w+|correct\w+)\b|\bon (?:error|failure)\b|\bif\b.{0,40}fail"
)


def _ranked(rank: str) -> Fields:
    def fields(match: "re.Match[str]") -> dict[str, str] | None:
        line = match.string[: match.endpos]
        return None if _QUOTED.match(line) or _NONE.search(line) else {"rank": rank}

    return fields


SIGNATURES = (
    *each(
        KIND,
        ("error", "exception", "interrupt", "exit"),
        r"^(?:\w+ )?(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?:\(\))?(?::|$)",
        _ranked("0"),
        reach=0,
    ),
    *each(
        KIND,
        ("fatal", "panic", "check fail", "assert", "terminate called", "core dumped", "segmentation", "aborted", "killed", "sig"),
        r"(?i)\b(?:fatal|(?:kernel )?panic(?:ked)?|check fail(?:ed|ure)|assertion\b.{0,80}\bfailed|terminate called|core dumped"
        r"|segmentation fault|aborted|killed|SIG(?:SEGV|ABRT|KILL|BUS|ILL|FPE)|unrecoverable)\b",
        _ranked("1"),
        reach=0,
    ),
    *each(KIND, ("error", "errno"), r"(?i)(?<![\w-])(?:\w+ )?err(?:or|no)\b", _ranked("2"), reach=0),
    *each(
        KIND,
        (
            "fail",
            "cannot",
            "can't",
            "could not",
            "couldn't",
            "unable to",
            "not found",
            "no such",
            "denied",
            "refused",
            "timed out",
        ),
        r"(?i)\b(?:fail(?:ed|ure|s|ing)?|cannot|can't|could(?: not|n't)|unable to|not found|no such|denied|refused|timed out)\b",
        _ranked("3"),
        reach=0,
    ),
)


class Suspects:
    """The few most telling ones of a stream of lines, the earliest of equal ones."""

    def __init__(self) -> None:
        self._best: dict[str, tuple[int, Event]] = {}

    def add(self, rank: int, event: Event, shape: str) -> None:
        """Take a line in; ``shape`` is what lines that say the same have in common."""
        if shape in self._best:
            return
        self._best[shape] = rank, event
        if len(self._best) > 4 * MOST:
            self._best = dict(self._sorted()[:MOST])

    def best(self) -> tuple[Event, ...]:
        """At most ``MOST``, the most telling first."""
        return tuple(event for _, (_, event) in self._sorted()[:MOST])

    def _sorted(self) -> list[tuple[str, tuple[int, Event]]]:
        return sorted(self._best.items(), key=lambda entry: (entry[1][0], entry[1][1].line))
