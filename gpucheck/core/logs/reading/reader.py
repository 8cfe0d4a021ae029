"""Turn lines into events: select the lines to parse, parse them, and keep a bounded number of events."""

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from re import Match

from gpucheck.core.logs.events import Event
from gpucheck.core.logs.log import Log
from gpucheck.core.logs.reading import lines as raw
from gpucheck.core.logs.reading import patterns
from gpucheck.core.logs.reading.batches import WIDEST, Batch, batches
from gpucheck.core.logs.reading.kept import OfKind, Origin, Suspects, resolved_by_training
from gpucheck.core.logs.reading.patterns import Pattern, compiled
from gpucheck.core.logs.reading.screen import IDENTIFIERS, Allowance, Literals, Screen, Shape
from gpucheck.core.model.progress import Progress

HARMLESS = 40  # kept distinct harmless lines
_END = 100  # last lines of a log, which are always parsed
_CITED = 400  # characters of a line
_LINES_PER_SHAPE = 40  # lines of one shape (equal except numbers and identifiers); of further ones, only the last is parsed
_SHAPES = 4000  # shapes that are counted

PATTERNS = patterns.load(("place", *patterns.TOPICS, "harmless", "suspects"))


def parse(
    lines: Iterable[str],
    source: str,
    clock: Callable[[], float] = lambda: 0.0,
    progress: Progress[Log] | None = None,
) -> Log:
    """Parse a log into events, in order.

    Args:
        lines: lines of any text, with or without line ends.
        source: the log's name in a report: a file name, "standard input".
        clock: returns the CPU time of this thread, in seconds; if given, logs whose lines all differ are sampled
            (``screen.Allowance``).
        progress: its snapshot is the log as read so far.

    Returns:
        At most ``kept.KEPT`` + 1 events of each kind: the first ones, fewer of those with the same fields, and the last.
        Also the lines that look most like failures, and harmless lines that look like errors.
    """
    allowance = Allowance(clock)
    reader = Reader(allowance)
    if progress is not None:
        progress.snapshot = lambda: reader.partial(source)
    for batch in batches(lines, allowance):
        reader.read(batch)
    return reader.log(source)


class Window:
    """A line's message, and as much of the following lines as a pattern needs."""

    def __init__(self, batch: Batch, index: int) -> None:
        self._batch, self._index, self._next = batch, index, index + 1
        self._cells: list[str] | None = None

    @cached_property
    def line(self) -> str:
        """Return the line's message alone."""
        return raw.clean(raw.after_bar(self._batch.texts[self._index])).text

    @cached_property
    def _ends(self) -> list[int]:
        """Return the end of each line in the text."""
        self._text = self.line
        return [len(self.line)]

    def search(self, pattern: Pattern) -> Match[str] | None:
        """Return a match that starts in the line itself."""
        following = pattern.continuation_lines
        while len(self._ends) <= following and self._next < len(self._batch.texts) and len(self._text) < WIDEST:
            message = raw.clean(self._batch.texts[self._next])
            if message.headed:
                self._next = len(self._batch.texts)
                break
            self._next += 1
            self._text += f" {message.text}" if message.text else ""
            self._ends.append(len(self._text))
        end = self._ends[min(following, len(self._ends) - 1)]
        match = compiled(pattern.regex).search(self._text, 0, end)
        if match is None and pattern.regex.startswith("^"):
            return self._in_cell(pattern)
        return match if match is not None and match.start() <= self._ends[0] else None

    def _in_cell(self, pattern: Pattern) -> Match[str] | None:
        """Return a match of a pattern for the start of a line, in a table cell."""
        if self._cells is None:
            row = raw.plain(self._batch.texts[self._index])
            self._cells = [raw.clean(cell).text for cell in row.split("|")] if row[:1] == row[-1:] == "|" else []
        matches = (compiled(pattern.regex).search(cell) for cell in self._cells)
        return next((match for match in matches if match is not None), None)


class Reader:
    """Parses batches and keeps the events."""

    def __init__(self, allowance: Allowance) -> None:
        """Start with an empty log."""
        self._allowance = allowance
        self._literals = _literals()
        self._screen = Screen(self._literals, allowance)
        self._pending: Batch | None = None
        self._kinds: dict[str, OfKind] = {}
        self._shapes: dict[Shape, int] = {}
        self._latest: dict[Shape, Batch] = {}
        self._harmless_shapes: set[Shape] = set()  # the shapes of harmless lines
        self._harmless: dict[str, Event] = {}
        self._harmless_lines = 0
        self._suspects = Suspects()
        self._origin = Origin()
        self._lines = 0

    def read(self, batch: Batch) -> None:
        """Parse the lines of the previous batch; the last batch is parsed differently, so it is held back."""
        self._read_pending(is_last=False)
        self._pending = batch

    def _read_pending(self, *, is_last: bool) -> None:
        """Parse every line that contains a pattern's literal."""
        batch, self._pending = self._pending, None
        if batch is None or not batch.end:
            return
        self._lines = max(self._lines, batch.numbers[batch.end - 1])
        lines = "\n".join(batch.texts[: batch.end]).lower().split("\n")
        latest: dict[Shape, int] = {}
        for index, shape in self._screen.lines(lines, is_last=is_last):
            # The first lines and the last of a progress bar are enough.
            count = self._shapes.get(shape, 0)
            if count >= _LINES_PER_SHAPE:
                if shape in self._harmless_shapes:
                    self._harmless_lines += 1
                else:
                    latest[shape] = index
            elif self._screen.begin(shape, must=is_last and index >= len(lines) - _END):
                if count or len(self._shapes) < _SHAPES:
                    self._shapes[shape] = count + 1
                if self._read_line(batch, index, lines[index]) and shape in self._shapes:
                    self._harmless_shapes.add(shape)
                self._screen.end()
        for shape, index in latest.items():
            self._latest[shape] = batch.at(index)

    def _read_latest(self) -> None:
        """Parse the last line of each shape; if time is short, only the last ones."""
        for shape, batch in sorted(self._latest.items(), key=lambda item: item[1].numbers[0], reverse=True):
            if self._allowance.left < 0:
                break
            self._screen.begin(shape)
            self._read_line(batch, 0, batch.texts[0].lower())
            self._screen.end()
        self._latest.clear()

    def log(self, source: str) -> Log:
        """Return the log with the kept events in order, after all lines were read."""
        self._read_pending(is_last=True)
        self._read_latest()
        return self.partial(source)

    def partial(self, source: str) -> Log:
        """Return the log as read so far, with its events in order; safe to call from another thread."""
        kept = [event for kind in list(self._kinds.values()) for event in (*kind.first, kind.last) if event is not None]
        events = tuple(sorted(kept, key=lambda event: event.line))
        resolved = resolved_by_training(events)
        reasons = {event.fields["reason"]: event for event in reversed(resolved)} | self._harmless
        distinct = sorted(reasons.values(), key=lambda event: event.line)
        return Log(
            source=source,
            events=events,
            lines=self._lines,
            skimmed=self._screen.skimmed,
            suspects=self._suspects.best(),
            harmless=tuple(distinct[:HARMLESS]),
            harmless_lines=self._harmless_lines + len(resolved),
        )

    def _read_line(self, batch: Batch, index: int, lowered: str) -> bool:
        """Parse a line and keep its events; return True if it is harmless."""
        window = Window(batch, index)
        kinds: set[str] = set()
        for pattern in self._literals.candidates(lowered):
            if pattern.kind in kinds or (pattern.kind == "suspect" and "harmless" in kinds):
                continue
            match = window.search(pattern)
            fields = pattern.fields(match) if match is not None else None
            if fields is None:
                continue
            kinds.add(pattern.kind)
            if pattern.kind == "place":
                self._origin.update(fields)
                continue
            text = raw.plain(raw.after_bar(batch.texts[index]))[:_CITED]
            fields = self._origin.stamp(pattern.kind, fields)
            event = Event(kind=pattern.kind, line=batch.numbers[index], text=text, fields=fields)
            self._keep(event, window.line)
        return "harmless" in kinds

    def _keep(self, event: Event, message: str) -> None:
        if event.kind == "harmless":
            self._harmless.setdefault(event.fields["reason"], event)
            self._harmless_lines += 1
        elif event.kind == "suspect":
            self._suspects.add(event, message.translate(IDENTIFIERS))
        else:
            self._kinds.setdefault(event.kind, OfKind()).add(event)


@cache
def _literals() -> Literals:
    return Literals(PATTERNS)
