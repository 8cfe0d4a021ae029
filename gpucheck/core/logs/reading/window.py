"""A line's message and what follows it, searched by a pattern."""

import re
from functools import cache, cached_property

from gpucheck.core.logs.reading import lines as raw
from gpucheck.core.logs.reading.batches import WIDEST, Batch
from gpucheck.core.logs.reading.patterns import Pattern

_LONGEST_REPEAT = 512
_REPEAT = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[*+]|(?<=\d),(?=\})")  # an escape and a set of characters are passed over


class Window:
    """A line's message, and as much of what follows as a pattern asks for."""

    def __init__(self, batch: Batch, index: int) -> None:
        self._batch, self._index, self._next = batch, index, index + 1
        self._cells: list[str] | None = None

    @cached_property
    def line(self) -> str:
        """The line's message alone."""
        return raw.clean(self._batch.texts[self._index]).text

    @cached_property
    def _ends(self) -> list[int]:
        """Where each line ends in the text."""
        self._text = self.line
        return [len(self.line)]

    def search(self, pattern: Pattern) -> "re.Match[str] | None":
        """A match that begins in the line itself."""
        while len(self._ends) <= pattern.continuation_lines and self._next < len(self._batch.texts) and len(self._text) < WIDEST:
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
def _compiled(regex: str) -> "re.Pattern[str]":
    return re.compile(bounded(regex))


def bounded(regex: str) -> str:
    """The regex with a most for every repeat: without one, it takes quadratic time where what it repeats goes on and on."""
    most = {"*": f"{{0,{_LONGEST_REPEAT}}}", "+": f"{{1,{_LONGEST_REPEAT}}}", ",": f",{_LONGEST_REPEAT}"}
    return _REPEAT.sub(lambda sign: most.get(sign[0], sign[0]), regex)
