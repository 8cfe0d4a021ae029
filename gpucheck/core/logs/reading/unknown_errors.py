"""Lines that look like failures, whatever they are about: what is left to show of a log that nobody knows."""

import re

from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.logs.reading.patterns import Fields, Pattern

KIND = Kind.SUSPECT
MOST = 8
LOOKS = ("exception", "fatal", "error", "failure")  # what a line looks like, the most telling first

# A traceback quotes source text, and reports count failures that did not happen.
_QUOTED = re.compile(r"File \"|(?:raise|return|except|def|from|import|assert|try|with|if|elif|class)\b(?!.*Error:)|[\^~]+$|#")
_NONE = re.compile(
    r"(?i)\b(?:no|0|zero|without|any) (?:\w+ )?(?:errors?|failures?|failed)\b"
    r"|\b(?:errors?|fail(?:ed|ures?))\b\W{1,3}(?:0|none|null|no)\b|\berrors?\W{1,3}\d*\.\d"
    r"|\b(?:error|failure)s?\W{0,3}(?:rate|bars?|handl\w+|correct\w+)\b|\bon (?:error|failure)\b|\bif\b.{0,40}fail"
)


def _looking(like: str) -> Fields:
    def fields(match: "re.Match[str]") -> dict[str, str] | None:
        line = match.string[: match.endpos]
        return None if _QUOTED.match(line) or _NONE.search(line) else {"looks": like}

    return fields


PATTERNS = (
    Pattern(
        KIND,
        ("error", "exception", "interrupt", "exit"),
        r"^(?:\w+ )?(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?:\(\))?(?::|$)",
        _looking("exception"),
    ),
    Pattern(
        KIND,
        ("fatal", "panic", "check fail", "assert", "terminate called", "core dumped", "segmentation", "aborted", "killed", "sig"),
        r"(?i)\b(?:fatal|(?:kernel )?panic(?:ked)?|check fail(?:ed|ure)|assertion\b.{0,80}\bfailed|terminate called|core dumped"
        r"|segmentation fault|aborted|killed|SIG(?:SEGV|ABRT|KILL|BUS|ILL|FPE)|unrecoverable)\b",
        _looking("fatal"),
    ),
    Pattern(KIND, ("error", "errno"), r"(?i)(?<![\w-])(?:\w+ )?err(?:or|no)\b", _looking("error")),
    Pattern(
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
        _looking("failure"),
    ),
)


class UnknownErrors:
    """The few most telling ones of a stream: the earliest of equal ones, and the last exception, which ended a program."""

    def __init__(self) -> None:
        self._best: dict[str, tuple[int, Event]] = {}
        self._last: tuple[str, Event] | None = None

    def add(self, event: Event, shape: str) -> None:
        """Take a line in; ``shape`` is what lines that say the same have in common."""
        rank = LOOKS.index(event.fields["looks"])
        if rank == 0 and (self._last is None or event.line > self._last[1].line):
            self._last = shape, event
        if shape in self._best:
            return
        self._best[shape] = rank, event
        if len(self._best) > 4 * MOST:
            self._best = dict(self._sorted()[:MOST])

    def best(self) -> tuple[Event, ...]:
        """At most ``MOST``, the most telling first."""
        best = self._sorted()[:MOST]
        if self._last is not None and self._last[0] not in dict(best):
            best[-1] = self._last[0], (0, self._last[1])
        return tuple(event for _, (_, event) in best)

    def _sorted(self) -> list[tuple[str, tuple[int, Event]]]:
        return sorted(self._best.items(), key=lambda entry: (entry[1][0], entry[1][1].line))
