"""Lines to events: which lines are looked at closely, what they mean, and which of their events are kept."""

import re
from functools import cache

from gpucheck.logs.events import Event, Kind
from gpucheck.logs.reading import harmless, origin, patterns, unknown_errors
from gpucheck.logs.reading import lines as raw
from gpucheck.logs.reading.batches import AHEAD, Batch
from gpucheck.logs.reading.patterns import Pattern
from gpucheck.logs.reading.search import DIGITS, Literals
from gpucheck.probes.log import Log

KEPT = 32  # events of a kind, from its first on; its last one comes on top
HARMLESS = 40  # distinct harmless lines that are kept
_SAME = 2  # events of a kind about the same thing that are kept
_FREE_TEXT = {"message", "bytes", "call", "error"}  # fields that do not tell two events apart
_CITED = 400  # characters of a line
_WIDEST = 4096  # characters of several lines, from which on no more are added
_ENOUGH = 40  # lines that differ in numbers and identifiers only: after so many, just the last one is read
_SHAPES = 4000  # such families that are counted
_FAMILIAR = 1 << 16  # lines, but for their digits, of which is remembered whether they hold a literal
_NOTHING = 0  # the shape of lines without a literal
_LONGEST_REPEAT = 512
_REPEAT = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[*+]|(?<=\d),(?=\})")  # an escape and a set of characters are passed over

PATTERNS = (*origin.PATTERNS, *patterns.load(), *harmless.PATTERNS, *unknown_errors.PATTERNS)

_IDENTIFIERS = str.maketrans("", "", "0123456789abcdef")  # numbers, addresses, UUIDs


class _Kept:
    """The events kept of one kind."""

    def __init__(self) -> None:
        self.first: list[Event] = []
        self.last: Event | None = None
        self._counts: dict[tuple[tuple[str, str], ...], int] = {}

    def add(self, event: Event) -> None:
        key = tuple(sorted(item for item in event.fields.items() if item[0] not in _FREE_TEXT))
        count = self._counts.get(key, 0)
        if count < _SAME and len(self.first) < KEPT:
            self._counts[key] = count + 1
            self.first.append(event)
        elif self.last is None or event.line > self.last.line:
            self.last = event


class Reader:
    """Keeps what was read so far."""

    def __init__(self) -> None:
        self._literals = _literals()
        self._kinds: dict[Kind, _Kept] = {}
        self._familiar: dict[int, int] = {}  # shapes by lines whose digits are masked, so that such lines are searched once
        self._shapes: dict[int, int] = {}
        self._latest: dict[int, Batch] = {}
        self._harmless_shapes: set[int] = set()  # the shapes of harmless lines
        self._harmless: dict[str, Event] = {}
        self._harmless_lines = 0
        self._unknown = unknown_errors.UnknownErrors()
        self._origin = origin.Origin()
        self._lines = 0

    def read(self, batch: Batch) -> None:
        """Understand every line of the batch that holds a pattern's literal."""
        if not batch.end:
            return
        self._lines = max(self._lines, batch.numbers[batch.end - 1])
        lowered = "\n".join(batch.texts[: batch.end]).lower()
        lines = lowered.split("\n")
        latest: dict[int, int] = {}
        for index, masked in enumerate(lowered.translate(DIGITS).split("\n")):
            shape = self._familiar.get(hash(masked))
            if shape is None:
                shape = self._shape(masked, lines[index])
            if shape == _NOTHING:
                continue
            # A thousand lines of a progress bar say no more than the first ones and the last.
            count = self._shapes.get(shape, 0)
            if count >= _ENOUGH:
                if shape in self._harmless_shapes:
                    self._harmless_lines += 1
                else:
                    latest[shape] = index
                continue
            if count or len(self._shapes) < _SHAPES:
                self._shapes[shape] = count + 1
            if self._understand(batch, index, lines[index]) and shape in self._shapes:
                self._harmless_shapes.add(shape)
        for shape, index in latest.items():
            ahead = slice(index, index + AHEAD)
            self._latest[shape] = Batch(batch.texts[ahead], batch.numbers[ahead], 1)

    def _shape(self, masked: str, line: str) -> int:
        """What the line has in common with those that differ in numbers and identifiers only; ``masked``: without its digits."""
        sure = self._literals.in_masked(masked)
        if sure is None:
            shape = _NOTHING
        elif "xid" in masked:  # every number of an Xid counts
            return hash(line)
        elif not sure and not self._literals.in_line(line):
            return _NOTHING
        else:
            shape = hash(masked.translate(_IDENTIFIERS))
        if sure is not False:
            if len(self._familiar) >= _FAMILIAR:
                self._familiar.clear()
            self._familiar[hash(masked)] = shape
        return shape

    def log(self, source: str) -> Log:
        """What was kept, in order."""
        for batch in self._latest.values():
            self._understand(batch, 0, batch.texts[0].lower())
        self._latest.clear()
        kept = [event for kind in self._kinds.values() for event in (*kind.first, kind.last) if event is not None]
        events = tuple(sorted(kept, key=lambda event: event.line))
        resolved = harmless.resolved_by_training(events)
        for event in resolved:
            self._harmless.setdefault(event.fields["reason"], event)
        distinct = sorted(self._harmless.values(), key=lambda event: event.line)
        return Log(
            source=source,
            events=events,
            lines=self._lines,
            suspects=self._unknown.best(),
            harmless=tuple(distinct[:HARMLESS]),
            harmless_lines=self._harmless_lines + len(resolved),
        )

    def _understand(self, batch: Batch, index: int, lowered: str) -> bool:
        """Keep what the line says; True if it is harmless."""
        window = _Window(batch, index)
        kinds: set[Kind] = set()
        for pattern in self._literals.candidates(lowered):
            if pattern.kind in kinds or (pattern.kind == unknown_errors.KIND and harmless.KIND in kinds):
                continue
            match = window.search(pattern)
            fields = pattern.fields(match) if match is not None else None
            if fields is None:
                continue
            kinds.add(pattern.kind)
            if pattern.kind == origin.KIND:
                self._origin.update(fields)
                continue
            text = raw.plain(batch.texts[index])[:_CITED]
            fields = self._origin.stamp(pattern.kind, fields)
            event = Event(kind=pattern.kind, line=batch.numbers[index], text=text, fields=fields)
            self._keep(event, window.line)
        return harmless.KIND in kinds

    def _keep(self, event: Event, message: str) -> None:
        if event.kind == harmless.KIND:
            self._harmless.setdefault(event.fields["reason"], event)
            self._harmless_lines += 1
        elif event.kind == unknown_errors.KIND:
            self._unknown.add(event, message.translate(_IDENTIFIERS))
        else:
            self._kinds.setdefault(event.kind, _Kept()).add(event)


class _Window:
    """A line's message, and as much of what follows as a pattern asks for."""

    def __init__(self, batch: Batch, index: int) -> None:
        self._batch, self._index, self._next = batch, index, index + 1
        self._text = raw.clean(batch.texts[index]).text
        self._ends = [len(self._text)]
        self._cells: list[str] | None = None

    @property
    def line(self) -> str:
        """The line's message alone."""
        return self._text[: self._ends[0]]

    def search(self, pattern: Pattern) -> "re.Match[str] | None":
        """A match that begins in the line itself."""
        while len(self._ends) <= pattern.continuation_lines and self._next < len(self._batch.texts) and len(self._text) < _WIDEST:
            message = raw.clean(self._batch.texts[self._next])
            if message.headed:
                self._next = len(self._batch.texts)
                break
            self._next += 1
            self._text += f" {message.text}" if message.text else ""
            self._ends.append(len(self._text))
        end = self._ends[min(pattern.continuation_lines, len(self._ends) - 1)]
        match = _compiled(pattern.regex).search(self._text, 0, end)
        if match is None and pattern.regex.startswith("^"):
            return self._in_cell(pattern)
        return match if match is not None and match.start() <= self._ends[0] else None

    def _in_cell(self, pattern: Pattern) -> "re.Match[str] | None":
        """A match of what has to begin a line, in a cell of a table."""
        if self._cells is None:
            row = raw.plain(self._batch.texts[self._index])
            self._cells = [raw.clean(cell).text for cell in row.split("|")] if row[:1] == row[-1:] == "|" else []
        matches = (_compiled(pattern.regex).search(cell) for cell in self._cells)
        return next((match for match in matches if match is not None), None)


@cache
def _literals() -> Literals:
    return Literals(PATTERNS)


@cache
def _compiled(regex: str) -> "re.Pattern[str]":
    return re.compile(bounded(regex))


def bounded(regex: str) -> str:
    """The regex with a most for every repeat: without one, it takes quadratic time where what it repeats goes on and on."""
    most = {"*": f"{{0,{_LONGEST_REPEAT}}}", "+": f"{{1,{_LONGEST_REPEAT}}}", ",": f",{_LONGEST_REPEAT}"}
    return _REPEAT.sub(lambda sign: most.get(sign[0], sign[0]), regex)
