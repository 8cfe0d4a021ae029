"""Lines to events: which lines are looked at closely, what they mean, and which of their events are kept."""

from functools import cache

from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.logs.reading import harmless, origin, patterns, unknown_errors
from gpucheck.core.logs.reading import lines as raw
from gpucheck.core.logs.reading.allowance import Allowance
from gpucheck.core.logs.reading.batches import Batch
from gpucheck.core.logs.reading.screen import IDENTIFIERS, Screen, Shape
from gpucheck.core.logs.reading.search import Literals
from gpucheck.core.logs.reading.window import Window
from gpucheck.core.probes.log import Log

KEPT = 32  # events of a kind, from its first on; its last one comes on top
HARMLESS = 40  # distinct harmless lines that are kept
_SAME = 2  # events of a kind about the same thing that are kept
_FREE_TEXT = {"message", "bytes", "call", "error"}  # fields that do not tell two events apart
_END = 100  # lines at the end of a log that are looked at in any case
_CITED = 400  # characters of a line
_ENOUGH = 40  # lines that differ in numbers and identifiers only: after so many, just the last one is read
_SHAPES = 4000  # such families that are counted

PATTERNS = (*origin.PATTERNS, *patterns.load(), *harmless.PATTERNS, *unknown_errors.PATTERNS)


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

    def __init__(self, allowance: Allowance) -> None:
        """Nothing was read."""
        self._allowance = allowance
        self._literals = _literals()
        self._screen = Screen(self._literals, allowance)
        self._held: Batch | None = None
        self._kinds: dict[Kind, _Kept] = {}
        self._shapes: dict[Shape, int] = {}
        self._latest: dict[Shape, Batch] = {}
        self._harmless_shapes: set[Shape] = set()  # the shapes of harmless lines
        self._harmless: dict[str, Event] = {}
        self._harmless_lines = 0
        self._unknown = unknown_errors.UnknownErrors()
        self._origin = origin.Origin()
        self._lines = 0

    def read(self, batch: Batch) -> None:
        """Understand the lines of the batch before this one: of the last one it must be known that it is."""
        self._read_held(is_last=False)
        self._held = batch

    def _read_held(self, *, is_last: bool) -> None:
        """Understand every line that holds a pattern's literal."""
        batch, self._held = self._held, None
        if batch is None or not batch.end:
            return
        self._lines = max(self._lines, batch.numbers[batch.end - 1])
        lines = "\n".join(batch.texts[: batch.end]).lower().split("\n")
        latest: dict[Shape, int] = {}
        for index, shape in self._screen.lines(lines, is_last=is_last):
            # A thousand lines of a progress bar say no more than the first ones and the last.
            count = self._shapes.get(shape, 0)
            if count >= _ENOUGH:
                if shape in self._harmless_shapes:
                    self._harmless_lines += 1
                else:
                    latest[shape] = index
            elif self._screen.begin(shape, must=is_last and index >= len(lines) - _END):
                if count or len(self._shapes) < _SHAPES:
                    self._shapes[shape] = count + 1
                if self._understand(batch, index, lines[index]) and shape in self._shapes:
                    self._harmless_shapes.add(shape)
                self._screen.end()
        for shape, index in latest.items():
            self._latest[shape] = batch.at(index)

    def _read_latest(self) -> None:
        """Understand the last line of each shape; the last ones of all, where the time is short."""
        for shape, batch in sorted(self._latest.items(), key=lambda item: item[1].numbers[0], reverse=True):
            if self._allowance.left < 0:
                break
            self._screen.begin(shape)
            self._understand(batch, 0, batch.texts[0].lower())
            self._screen.end()
        self._latest.clear()

    def log(self, source: str) -> Log:
        """What was kept, in order, once everything was read."""
        self._read_held(is_last=True)
        self._read_latest()
        return self.known(source)

    def known(self, source: str) -> Log:
        """What was kept by now, in order; another thread may ask."""
        kept = [event for kind in list(self._kinds.values()) for event in (*kind.first, kind.last) if event is not None]
        events = tuple(sorted(kept, key=lambda event: event.line))
        resolved = harmless.resolved_by_training(events)
        reasons = {event.fields["reason"]: event for event in reversed(resolved)} | self._harmless
        distinct = sorted(reasons.values(), key=lambda event: event.line)
        return Log(
            source=source,
            events=events,
            lines=self._lines,
            skimmed=self._screen.skimmed,
            suspects=self._unknown.best(),
            harmless=tuple(distinct[:HARMLESS]),
            harmless_lines=self._harmless_lines + len(resolved),
        )

    def _understand(self, batch: Batch, index: int, lowered: str) -> bool:
        """Keep what the line says; True if it is harmless."""
        window = Window(batch, index)
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
            self._unknown.add(event, message.translate(IDENTIFIERS))
        else:
            self._kinds.setdefault(event.kind, _Kept()).add(event)


@cache
def _literals() -> Literals:
    return Literals(PATTERNS)
