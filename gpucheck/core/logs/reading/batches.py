"""A stream of lines in pieces that are searched at once, each with a few lines behind it at hand."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from gpucheck.core.logs.reading import lines as raw
from gpucheck.core.logs.reading import wrapping
from gpucheck.core.logs.reading.allowance import Allowance

AHEAD = 32  # lines kept back, so that a wrapped line's rest is at hand
WIDEST = 4096  # characters of several lines, from which on no more are added
_LONGEST = 2048  # characters of a line that are looked at in one piece
_CHARACTERS = 1 << 18  # of a batch
_WORDS = re.compile(r"[^\n]{2,}")
_AT_ONCE = 32  # lines that are taken from the stream at once: each may be very long


class Batch:
    """Consecutive lines; those from ``end`` on are only looked ahead at."""

    def __init__(self, texts: list[str], numbers: list[int], end: int) -> None:
        self.texts, self.numbers, self.end = texts, numbers, end

    def at(self, index: int) -> "Batch":
        """One line alone, with what a match that begins in it may run into."""
        end, size = index + 1, 0
        while end < min(len(self.texts), index + AHEAD) and size < WIDEST:
            size += len(self.texts[end])
            end += 1
        return Batch(self.texts[index:end], self.numbers[index:end], 1)


def batches(lines: Iterable[str], allowance: Allowance) -> Iterator[Batch]:
    """The lines in batches; taking apart what is encoded costs of the allowance."""
    texts: list[str] = []
    numbers: list[int] = []
    fresh: list[str] = []
    number = size = 0
    stream = iter(lines)
    while some := list(islice(stream, _AT_ONCE)):
        fresh += some
        size += sum(map(len, some)) + len(some)
        if size >= _CHARACTERS:
            _take(fresh, number + 1, texts, numbers, allowance)
            end = max(len(texts) - AHEAD, 0)
            yield Batch(texts, numbers, end)
            number += len(fresh)
            texts, numbers, fresh, size = texts[end:], numbers[end:], [], 0
    _take(fresh, number + 1, texts, numbers, allowance)
    yield Batch(texts, numbers, len(texts))


def _take(fresh: list[str], first: int, texts: list[str], numbers: list[int], allowance: Allowance) -> None:
    """Append lines and their numbers, split where a terminal would have overwritten them."""
    stripped, own = _stripped(fresh, first)
    blob = "".join(stripped)
    began = allowance.clock()
    encoded = not allowance.is_used_up and wrapping.is_encoded(blob)
    if encoded or any(mark in blob for mark in "\r\b\0\n") or max(map(len, stripped), default=0) > _LONGEST:
        for number, line in zip(own, stripped, strict=True):
            line = line.replace("\n", " ")
            parts = (
                [part for whole in wrapping.decoded(line) for part in raw.split(whole, _LONGEST)]
                if encoded
                else raw.split(line, _LONGEST)
            )
            texts += parts
            numbers += [number] * len(parts)
        allowance.spend(allowance.clock() - began if encoded else 0.0)
    else:
        texts += stripped
        numbers += own


def _stripped(fresh: list[str], first: int) -> tuple[list[str], Sequence[int]]:
    """The lines without their ends, and their numbers."""
    text, numbers = "".join(fresh), range(first, first + len(fresh))
    if "\r" in text or text.count("\n") != len(fresh) or not text.endswith("\n"):
        return [line.rstrip("\r\n") for line in fresh], numbers
    if len(text) > 2 * len(fresh):
        return text[:-1].split("\n"), numbers
    # Hardly more than line ends: a line of one letter holds no word that is searched for.
    words, number, end = list(_WORDS.finditer(text)), first, 0
    long_ones = []
    for word in words:
        number, end = number + text.count("\n", end, word.start()), word.start()
        long_ones.append(number)
    return [*(word[0] for word in words), ""], [*long_ones, numbers[-1]]
