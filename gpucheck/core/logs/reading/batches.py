"""Split a stream of lines into batches that are searched at once, each with a few lines of lookahead.

Lines encoded in a string or in HTML are decoded into the original lines; ``lines.clean`` strips prefixes and marks of a line.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from gpucheck.core.logs.reading import lines as raw
from gpucheck.core.logs.reading.mentions import is_only_mentioned
from gpucheck.core.logs.reading.screen import Allowance

AHEAD = 32  # lookahead lines, for the rest of wrapped lines
WIDEST = 4096  # characters of joined lines, above which no more are added
_LONGEST = 2048  # characters of a line that are parsed in one piece
_CHARACTERS = 1 << 18  # of a batch
_WORDS = re.compile(r"[^\n]{2,}")
_AT_ONCE = 32  # lines read from the stream at once: each may be very long

# -- lines in a string or in HTML --

_ESCAPED = re.compile(r"\\n(?!\\{0,4}[\"'])")  # an escaped line end inside a string, not at its end
# An escaped line end that is not part of a Windows path with a folder that starts with n
_LINE_END = re.compile(r"(?:\\{1,4}r)?\\{1,4}n(?![\w.-]{1,80}\\{1,4}[^\\nrtu\"'])")
_DRIVE = re.compile(r"(?<![A-Za-z])[A-Za-z]:(?:\\{1,4}[\w .()-]+)*$")
_STRING = re.compile(
    r"\b(?:stdout|stderr|output|text|log|body|message|error|msg)(?:\\{0,4}[\"'])? ?[:=] ?b?\\{0,4}[\"'](?![\\\"'])"
)
_NEXT_KEY = re.compile(r"\\{0,4}\", *\\{0,4}\"\w+\\{0,4}\" *:.*$")
_STRING_END = re.compile(r"\\{0,4}[\"'][\s\\\]}\"'),;>]*$")
_BYTES = 256
_TAIL = 64  # characters that close a string and the record around it
_UNESCAPED = {"t": " ", "r": ""}
_ESCAPE = re.compile(r"\\{1,4}([\"'/tr])")

# A record of journalctl -o json: its message is a string, or a list of bytes if it has other characters than text.
_RECORD = re.compile(r'^\{"\w+" ?:.*"MESSAGE" ?: ?(?:("(?:[^"\\]|\\.)*")|\[([\d, ]*)\])')

_ENTITY = re.compile(r"&(?:lt|gt|quot|amp|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_BREAK = re.compile(r"<br ?/?>|</(?:p|div|li|tr|pre)>(?=.)")
_TYPED = {"\u00a0": " ", "\u202f": " ", "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}


class Batch:
    """Consecutive lines; those from ``end`` on are lookahead only."""

    def __init__(self, texts: list[str], numbers: list[int], end: int) -> None:
        self.texts, self.numbers, self.end = texts, numbers, end

    def at(self, index: int) -> "Batch":
        """Return a batch of one line, with the lookahead that a match may extend into."""
        end, size = index + 1, 0
        while end < min(len(self.texts), index + AHEAD) and size < WIDEST:
            size += len(self.texts[end])
            end += 1
        return Batch(self.texts[index:end], self.numbers[index:end], 1)


def batches(lines: Iterable[str], allowance: Allowance) -> Iterator[Batch]:
    """Yield the lines in batches; decoding counts against the allowance."""
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
    """Append lines and their numbers, split where a terminal overwrites them."""
    stripped, own = _stripped(fresh, first)
    blob = "".join(stripped)
    began = allowance.clock()
    encoded = not allowance.is_used_up and is_encoded(blob)
    if encoded or any(mark in blob for mark in "\r\b\0\n") or max(map(len, stripped), default=0) > _LONGEST:
        for number, line in zip(own, stripped, strict=True):
            line = line.replace("\n", " ")
            parts = [part for whole in decoded(line) for part in split(whole, _LONGEST)] if encoded else split(line, _LONGEST)
            texts += parts
            numbers += [number] * len(parts)
        allowance.spend(allowance.clock() - began if encoded else 0.0)
    else:
        texts += stripped
        numbers += own


def _stripped(fresh: list[str], first: int) -> tuple[list[str], Sequence[int]]:
    """Return the lines without line ends, and their numbers."""
    text, numbers = "".join(fresh), range(first, first + len(fresh))
    if "\r" in text or text.count("\n") != len(fresh) or not text.endswith("\n"):
        return [line.rstrip("\r\n") for line in fresh], numbers
    if len(text) > 2 * len(fresh):
        return text[:-1].split("\n"), numbers
    # Almost only line ends: a line of one letter contains no searched literal.
    words, number, end = list(_WORDS.finditer(text)), first, 0
    long_ones = []
    for word in words:
        number, end = number + text.count("\n", end, word.start()), word.start()
        long_ones.append(number)
    return [*(word[0] for word in words), ""], [*long_ones, numbers[-1]]


def split(line: str, limit: int) -> list[str]:
    """Split a line that was overwritten in place, as by progress bars, into parts of at most ``limit`` characters."""
    if "\b" in line or "\0" in line:
        line = line.replace("\b", "\r").replace("\0", "")
    parts = line.split("\r")
    if max(map(len, parts)) > limit:  # pieces overlap, so that a message at a boundary is complete in one of them
        step = limit - limit // 8
        parts = [part[start : start + limit] for part in parts for start in range(0, len(part) if len(part) > limit else 1, step)]
    return list(filter(None, parts)) or [""]


def is_encoded(blob: str) -> bool:
    """Whether any of these lines, without line ends, must be decoded."""
    if "\\n" in blob and _ESCAPED.search(blob):
        return True
    if '"MESSAGE"' in blob:
        return True
    if "&" in blob and _ENTITY.search(blob):
        return True
    if "<" in blob and _BREAK.search(blob):
        return True
    return not blob.isascii() and any(mark in blob for mark in _TYPED)


def decoded(line: str) -> list[str]:
    """Decode a line into its lines: a journal's record, escaped line ends, HTML, typographic quotes and spaces."""
    if record := _RECORD.match(line):
        return _message(record)
    if not line.isascii():
        for mark, plain in _TYPED.items():
            line = line.replace(mark, plain)
    parts = [line]
    if (
        "\\n" in line
        and _ESCAPED.search(line)
        and (line.startswith(("{", "[")) or not is_only_mentioned(raw.plain(raw.ends(line))))
    ):
        parts = _unescaped(line)
    if "<" in line or "&" in line:
        parts = [_text(part) for whole in parts for part in _BREAK.split(whole)]
    return parts


def _message(record: re.Match[str]) -> list[str]:
    """Return the lines of the message in a journal's record."""
    import json

    if record[1] is None:
        numbers = [int(number) for number in record[2].split(",") if number.strip()]
        message = bytes(number for number in numbers if number < _BYTES).decode("utf-8", "replace")
    else:
        message = json.loads(record[1], strict=False)
    return message.split("\n")


def _text(line: str) -> str:
    if not _ENTITY.search(line):
        return line
    import html  # its table of 2,000 names is only needed here

    return html.unescape(line).replace("\u00a0", " ")


def _unescaped(line: str) -> list[str]:
    parts, start = [], 0
    for end in _LINE_END.finditer(line):
        if not _DRIVE.search(line[max(end.start() - 120, start) : end.start()]):
            parts.append(line[start : end.start()])
            start = end.end()
    if not parts:
        return [line]
    rest = _NEXT_KEY.sub("", line[start:])
    parts.append(rest[:-_TAIL] + _STRING_END.sub("", rest[-_TAIL:]))
    openings = list(_STRING.finditer(parts[0]))
    if openings:
        parts[:1] = [parts[0][: openings[-1].start()], parts[0][openings[-1].end() :]]
    return [_ESCAPE.sub(lambda escape: _UNESCAPED.get(escape[1], escape[1]), part) for part in parts]
