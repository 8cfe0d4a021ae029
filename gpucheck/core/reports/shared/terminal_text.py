"""Styled text with a maximum line width, used for all terminal output.

Only rich's widths of unusual characters are used: its console would take a third of the time of a ``--quick`` run.
"""

import re

import msgspec

from gpucheck.core.reports.shared.published import documentation
from gpucheck.core.reports.shared.words import clean

# "code" is the code of a diagnosis, which links to its page.
STYLES = {"title": "1", "ok": "32", "warn": "33", "fail": "1;31", "quiet": "2", "command": "1;36", "code": "2"}  # ECMA-48 SGR
ONE_CELL = r"[ -~\xa1-\xac\xae-\u02af\u2010-\u2027\u2190-\u2193✓✗]*"  # text whose width needs no table
NARROWEST = 20  # minimum width; lines may be wider than a narrower terminal
Part = str | tuple[str, str]  # text, or (text, name of a style)


class _Span(msgspec.Struct, frozen=True):
    text: str
    style: str


_Line = list[_Span]


class TerminalText:
    """A growing text. Everything added is data: control characters are removed, and nothing is markup."""

    def __init__(self, *, width: int, color: bool, ascii: bool) -> None:
        """Start an empty text: ``width`` in terminal cells; ``color``: with escape codes; ``ascii``: only ASCII."""
        self.width = max(width, NARROWEST)
        self.ascii = ascii
        self._color = color
        self._lines: list[_Line] = []

    def add(self, *parts: Part, indent: int = 0, label: Part | None = None, hang: int | None = None) -> None:
        """Add parts, wrapped between words.

        Args:
            parts: the text.
            indent: blanks before the first line.
            label: written once, after the indent; the text then begins at ``hang``.
            hang: indentation of the following lines; None: ``indent``.
        """
        column = min(indent if hang is None else hang, self.width // 2)
        start = [_Span(" " * min(indent, column), "")]
        if label is not None:
            start += self._spans(label)
            if _cells(start) > column:
                self._lines.append(start)
                start = []
            start.append(_Span(" " * (column - _cells(start)), ""))
        for line in _wrap(self._spans(*parts), self.width - column):
            self._lines.append([*start, *line])
            start = [_Span(" " * column, "")]

    def tail(self, *parts: Part, indent: int) -> None:
        """Append parts to the last line if they fit, else add a line."""
        spans = self._spans(*parts)
        if self._lines and _cells(self._lines[-1]) + 4 + _cells(spans) <= self.width:
            self._lines[-1] += [_Span(" " * 4, ""), *spans]
        else:
            self.add(*parts, indent=indent)

    def flow(self, *items: Part) -> None:
        """Add items in sequence, separated by dots; lines break only between items, unless an item is too wide."""
        line: list[Part] = []
        column = 0
        for item in items:
            longer: list[Part] = [*line, " · ", item] if line else [item]
            if line and column + _cells(self._spans(*longer)) > self.width:
                self.add(*line, indent=column)
                longer, column = [item], 2
            line = longer
        self.add(*line, indent=column)

    def command(self, command: str, column: int, *, indent: int = 0, label: Part = "") -> None:
        """Add a command on one line of any length: a copied command must work."""
        start = [_Span(" " * indent, ""), *self._spans(label)]
        start.append(_Span(" " * (column - _cells(start)), ""))
        self._lines.append([*start, *self._spans((command, "command"))])

    def verbatim(self, *parts: Part) -> None:
        """Add one line unchanged, including spaces."""
        self._lines.append(self._spans(*parts))

    def blank(self) -> None:
        """Add an empty line, never two in a row."""
        if self._lines and self._lines[-1]:
            self._lines.append([])

    def section(self, title: str) -> None:
        """Begin a section: an empty line, and the indented title."""
        self.blank()
        self.add((title, "title"), indent=2)

    def __str__(self) -> str:
        return "".join("".join(map(self._painted, _stripped(line))) + "\n" for line in self._lines)

    def _spans(self, *parts: Part) -> _Line:
        pairs = ((part, "") if isinstance(part, str) else part for part in parts)
        return [_Span(clean(text, self.ascii), style) for text, style in pairs]

    def _painted(self, span: _Span) -> str:
        if not (self._color and span.style and span.text):
            return span.text
        text = f"\x1b[{STYLES[span.style]}m{span.text}\x1b[0m"
        docs = documentation() if span.style == "code" else None
        # other terminals ignore the link (OSC 8)
        return f"\x1b]8;;{docs}/diagnoses/{span.text}.md\x1b\\{text}\x1b]8;;\x1b\\" if docs else text


def _cells(line: _Line) -> int:
    return sum(cells(span.text) for span in line)


def _stripped(line: _Line) -> _Line:
    """Return the line without trailing blanks."""
    while line and not line[-1].text.strip():
        line = line[:-1]
    return [*line[:-1], msgspec.structs.replace(line[-1], text=line[-1].text.rstrip())] if line else line


def _wrap(line: _Line, width: int) -> list[_Line]:
    """Break a line into lines of at most ``width`` cells, between words; longer words are cut."""
    text = "".join(span.text for span in line)
    cuts: list[tuple[int, int]] = []
    start = end = 0
    for word in re.finditer(r"\S+", text):
        if _wider(text, start, word.end(), width):
            if end > start:
                cuts.append((start, end))
                start = word.start()
            while _wider(text, start, word.end(), width):
                end = start + width
                while (over := cells(text[start:end]) - width) > 0:  # wide characters take two cells
                    end -= max(over // 2, 1)
                cuts.append((start, end))
                start = end
        end = word.end()
    return [_slice(line, *cut) for cut in [*cuts, (start, end)]]


def cells(text: str) -> int:
    """Return the width of a text in terminal cells; wide characters take two."""
    if re.fullmatch(ONE_CELL, text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _wider(text: str, start: int, end: int, width: int) -> bool:
    """Whether a part is wider than ``width`` cells; a long one is only measured until it exceeds that."""
    size = width + 1
    while start + size < end:
        if cells(text[start : start + size]) > width:
            return True
        size *= 2  # characters without a width
    return cells(text[start:end]) > width


def _slice(line: _Line, start: int, end: int) -> _Line:
    spans, place = [], 0
    for span in line:
        text = span.text[max(start - place, 0) : max(end - place, 0)]
        place += len(span.text)
        if text:
            spans.append(_Span(text, span.style))
    return spans
