"""Lines as they were before somebody put them into a string or a page of HTML.

``clean`` in ``lines`` takes away what stands around a line; here is what a line has to be taken apart for.
"""

import re

from gpucheck.core.logs.reading import lines as raw
from gpucheck.core.logs.reading.mentions import is_only_mentioned

_ESCAPED = re.compile(r"\\n(?!\\{0,4}[\"'])")  # a line's end within a string, not at its end
# A line's end, and no path of Windows that goes on with an n
_END = re.compile(r"(?:\\{1,4}r)?\\{1,4}n(?![\w.-]{1,80}\\{1,4}[^\\nrtu\"'])")
_DRIVE = re.compile(r"(?<![A-Za-z])[A-Za-z]:(?:\\{1,4}[\w .()-]+)*$")
_STRING = re.compile(
    r"\b(?:stdout|stderr|output|text|log|body|message|error|msg)(?:\\{0,4}[\"'])? ?[:=] ?b?\\{0,4}[\"'](?![\\\"'])"
)
_NEXT_KEY = re.compile(r"\\{0,4}\", *\\{0,4}\"\w+\\{0,4}\" *:.*$")
_STRING_END = re.compile(r"\\{0,4}[\"'][\s\\\]}\"'),;>]*$")
_TAIL = 64  # characters that close a string, and what it is in
_UNESCAPED = {"t": " ", "r": ""}
_ESCAPE = re.compile(r"\\{1,4}([\"'/tr])")

_ENTITY = re.compile(r"&(?:lt|gt|quot|amp|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_BREAK = re.compile(r"<br ?/?>|</(?:p|div|li|tr|pre)>(?=.)")
_TYPED = {"\u00a0": " ", "\u202f": " ", "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}


def is_encoded(blob: str) -> bool:
    """Whether any of these lines, without their ends, has to be taken apart."""
    if "\\n" in blob and _ESCAPED.search(blob):
        return True
    if "&" in blob and _ENTITY.search(blob):
        return True
    if "<" in blob and _BREAK.search(blob):
        return True
    return not blob.isascii() and any(mark in blob for mark in _TYPED)


def decoded(line: str) -> list[str]:
    """The lines that are in it: line ends escaped in a string, HTML's breaks and entities, typographic quotes and blanks."""
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


def _text(line: str) -> str:
    if not _ENTITY.search(line):
        return line
    import html  # its table of 2,000 names is only wanted here

    return html.unescape(line).replace("\u00a0", " ")


def _unescaped(line: str) -> list[str]:
    parts, start = [], 0
    for end in _END.finditer(line):
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
