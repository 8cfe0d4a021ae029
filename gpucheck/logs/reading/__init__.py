"""One reader for every log: TensorFlow, XLA, CUDA, NVML, the kernel, NCCL, Keras, Python, pip, containers and schedulers.

``parse`` reads a stream once and keeps a bounded number of events; ``lines`` strips prefixes; ``signatures`` knows what
lines mean. What follows from an event is for rules to judge.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from gpucheck.logs.events import Event, Kind
from gpucheck.logs.reading import harmless, places, signatures, suspects, wrapping
from gpucheck.logs.reading import lines as raw
from gpucheck.logs.reading.search import Words
from gpucheck.logs.reading.signatures import Signature
from gpucheck.probes.log import Log

KEPT = 32  # events of a kind, from its first on; its last one comes on top
HARMLESS = 40  # distinct harmless lines that are kept
_SAME = 2  # of them about the same thing
_FREE_TEXT = {"message", "bytes", "call", "error"}  # fields that do not tell two events apart
_TEXT = 400  # characters of a line that an event cites
_LONGEST = 2048  # characters of a line that are looked at in one piece
_WIDEST = 4096  # characters of several lines, from which on no more are added
_BATCH = 1 << 18  # characters that are searched at once
_AHEAD = 32  # lines kept back, so that a wrapped line's rest is at hand
_ENOUGH = 40  # lines that differ in numbers and identifiers only: after so many, just the last one is read
_SHAPES = 4000  # such families that are counted

_IDENTIFIERS = str.maketrans("", "", "0123456789abcdef")  # numbers, addresses, UUIDs


def parse(lines: Iterable[str], source: str) -> Log:
    """The events of a log, in order.

    Args:
        lines: lines of text, with or without their line ends; anything may stand in them.
        source: what the log is called in a report: a file's name, "standard input".

    Returns:
        At most ``KEPT`` + 1 events of each kind: the first ones, of those about the same thing fewer, and the last. Beside
        them the lines that look most like failures, and those that look bad and are harmless.
    """
    reader = _Reader()
    for batch in _batches(lines):
        reader.read(batch)
    return reader.log(source)


class _Batch:
    """Consecutive lines; those from ``end`` on are only looked ahead at. Or one line, put together from broken ones."""

    def __init__(self, texts: list[str], numbers: list[int], end: int, broken: range = range(0)) -> None:
        self.texts, self.numbers, self.end, self.broken = texts, numbers, end, broken


def _batches(lines: Iterable[str]) -> Iterator[_Batch]:
    texts: list[str] = []
    numbers: list[int] = []
    fresh: list[str] = []
    number = size = 0
    for line in lines:
        number += 1
        fresh.append(line)
        size += len(line) + 1
        if size >= _BATCH:
            _take(fresh, number, texts, numbers)
            end = max(len(texts) - _AHEAD, 0)
            yield _Batch(texts, numbers, end)
            texts, numbers, fresh, size = texts[end:], numbers[end:], [], 0
    _take(fresh, number, texts, numbers)
    yield _Batch(texts, numbers, len(texts))
    if len(fresh) == number:  # the whole text
        for first, last, whole in wrapping.rejoined(texts):
            yield _Batch([whole], [numbers[first]], 1, broken=range(numbers[first], numbers[last] + 1))


def _take(fresh: list[str], last: int, texts: list[str], numbers: list[int]) -> None:
    """Append lines and their numbers, split where a terminal would have overwritten them."""
    stripped = [line.rstrip("\r\n") for line in fresh]
    blob = "".join(stripped)
    first = last - len(fresh) + 1
    encoded = wrapping.is_encoded(blob)
    if encoded or any(mark in blob for mark in "\r\b\0\n") or max(map(len, stripped), default=0) > _LONGEST:
        for number, line in enumerate(stripped, first):
            line = line.replace("\n", " ")
            parts = (
                [part for whole in wrapping.decoded(line) for part in raw.split(whole, _LONGEST)]
                if encoded
                else raw.split(line, _LONGEST)
            )
            texts += parts
            numbers += [number] * len(parts)
    else:
        texts += stripped
        numbers += range(first, last + 1)


class _Kind:
    """The events kept of one kind."""

    def __init__(self) -> None:
        self.first: list[Event] = []
        self.last: Event | None = None
        self._seen: dict[tuple[tuple[str, str], ...], int] = {}

    def add(self, event: Event) -> None:
        key = tuple(sorted(item for item in event.fields.items() if item[0] not in _FREE_TEXT))
        seen = self._seen.get(key, 0)
        if seen < _SAME and len(self.first) < KEPT:
            self._seen[key] = seen + 1
            self.first.append(event)
        elif self.last is None or event.line > self.last.line:
            self.last = event


class _Reader:
    def __init__(self) -> None:
        self._words = _words()
        self._kinds: dict[Kind, _Kind] = {}
        self._shapes: dict[int, int] = {}
        self._latest: dict[int, _Batch] = {}
        self._noise: set[int] = set()  # the shapes of harmless lines
        self._harmless: dict[str, Event] = {}
        self._harmless_lines = 0
        self._suspects = suspects.Suspects()
        self._place = places.Place()
        self._lines = 0

    def read(self, batch: _Batch) -> None:
        """Understand every line of the batch that holds a signature's word."""
        if not batch.end:
            return
        self._lines = max(self._lines, batch.numbers[batch.end - 1])
        for index, lowered in self._words.hits("\n".join(batch.texts[: batch.end]).lower()):
            # A thousand lines of a progress bar say no more than the first ones and the last. Xid numbers do.
            shape = hash(lowered if "xid" in lowered else lowered.translate(_IDENTIFIERS))
            count = self._shapes.get(shape, 0)
            if count >= _ENOUGH and shape in self._noise:
                self._harmless_lines += 1
                continue
            if count >= _ENOUGH:
                ahead = slice(index, index + _AHEAD)
                self._latest[shape] = _Batch(batch.texts[ahead], batch.numbers[ahead], 1)
                continue
            if count or len(self._shapes) < _SHAPES:
                self._shapes[shape] = count + 1
            if self._understand(batch, index, lowered) and shape in self._shapes:
                self._noise.add(shape)

    def log(self, source: str) -> Log:
        """What was kept, in order."""
        for batch in self._latest.values():
            self._understand(batch, 0, batch.texts[0].lower())
        self._latest.clear()
        kept = [event for kind in self._kinds.values() for event in (*kind.first, kind.last) if event is not None]
        events = tuple(sorted(kept, key=lambda event: event.line))
        over = harmless.taken_back(events)
        for event in over:
            self._harmless.setdefault(event.fields["reason"], event)
        told = sorted(self._harmless.values(), key=lambda event: event.line)
        return Log(
            source=source,
            events=events,
            lines=self._lines,
            suspects=self._suspects.best(),
            harmless=tuple(told[:HARMLESS]),
            harmless_lines=self._harmless_lines + len(over),
        )

    def _understand(self, batch: _Batch, index: int, lowered: str) -> bool:
        """Keep what the line says; True if it is harmless."""
        window = _Window(batch, index)
        found: set[Kind] = set()
        for signature in self._words.candidates(lowered):
            if signature.kind in found or (batch.broken and self._knows(signature.kind, batch.broken)):
                continue
            match = window.search(signature)
            fields = signature.fields(match) if match is not None else None
            if fields is None:
                continue
            if signature.kind == suspects.KIND and harmless.KIND in found:
                continue
            found.add(signature.kind)
            if signature.kind == places.KIND:
                self._place.see(fields)
                continue
            fields = self._place.stamp(signature.kind, fields)
            text = raw.plain(batch.texts[index])[:_TEXT]
            event = Event(kind=signature.kind, line=batch.numbers[index], text=text, fields=fields)
            if signature.kind == harmless.KIND:
                self._harmless.setdefault(fields["reason"], event)
                self._harmless_lines += 1
            elif signature.kind == suspects.KIND:
                self._suspects.add(event, window.line.translate(_IDENTIFIERS))
            else:
                self._kinds.setdefault(signature.kind, _Kind()).add(event)
        return harmless.KIND in found

    def _knows(self, kind: Kind, lines: range) -> bool:
        """Whether one of these lines said so by itself. Together they are a guess, of which no more is made."""
        if kind in (harmless.KIND, suspects.KIND):
            return True
        known = self._kinds.get(kind)
        return known is not None and any(event.line in lines for event in (*known.first, known.last) if event is not None)


class _Window:
    """A line's message, and as much of what follows as a pattern asks for."""

    def __init__(self, batch: _Batch, index: int) -> None:
        self._batch, self._index, self._next = batch, index, index + 1
        self._text = raw.clean(batch.texts[index]).text
        self._ends = [len(self._text)]
        self._cells: list[str] | None = None

    @property
    def line(self) -> str:
        """The line's message alone."""
        return self._text[: self._ends[0]]

    def search(self, signature: Signature) -> "re.Match[str] | None":
        """A match that begins in the line itself."""
        while len(self._ends) <= signature.reach and self._next < len(self._batch.texts) and len(self._text) < _WIDEST:
            message = raw.clean(self._batch.texts[self._next])
            if message.headed:
                self._next = len(self._batch.texts)
                break
            self._next += 1
            self._text += f" {message.text}" if message.text else ""
            self._ends.append(len(self._text))
        end = self._ends[min(signature.reach, len(self._ends) - 1)]
        match = _compiled(signature.pattern).search(self._text, 0, end)
        if match is None and signature.pattern.startswith("^"):
            return self._in_cell(signature)
        return match if match is not None and match.start() <= self._ends[0] else None

    def _in_cell(self, signature: Signature) -> "re.Match[str] | None":
        """A match of what has to begin a line, in a cell of a table."""
        if self._cells is None:
            row = raw.plain(self._batch.texts[self._index])
            self._cells = [raw.clean(cell).text for cell in row.split("|")] if row[:1] == row[-1:] == "|" else []
        found = (_compiled(signature.pattern).search(cell) for cell in self._cells)
        return next((match for match in found if match is not None), None)


@cache
def _words() -> Words:
    return Words((*places.SIGNATURES, *signatures.load(), *harmless.SIGNATURES, *suspects.SIGNATURES))


@cache
def _compiled(pattern: str) -> "re.Pattern[str]":
    return re.compile(pattern)
