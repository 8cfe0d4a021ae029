"""The TOML that expectations need: reading with line numbers, and writing strings, numbers and tables."""

import importlib
import re
import sys
from typing import Any, cast

Path = tuple[str | int, ...]


class Problem(ValueError):
    """A file that can't be used; the message gives the place and the reason, on one line."""


def load(text: str, name: str) -> dict[str, Any]:
    """Parse a document.

    Raises:
        Problem: the text is not TOML; with the name and, if the parser reports it, the line.
    """
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return cast("dict[str, Any]", parser.loads(text.removeprefix("\ufeff")))  # Windows' editors write a byte order mark
    except (ValueError, RecursionError) as error:
        words = str(error) or "nested too deeply"
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", words)
        at = f":{place[1] or max(1, len(text.splitlines()))}" if place else ""
        raise Problem(f"{name}{at}: not TOML: {words[: place.start()] if place else words}") from None


def line(text: str, path: Path) -> int | None:
    """Return the line (from 1) of a path; for a key of an inline table, the line of the table."""
    best, at = 0, None
    for number, place in _places(text):
        common = 0
        while common < min(len(place), len(path)) and place[common] == path[common]:
            common += 1
        if common > best:
            best, at = common, number
    return at


_KEY = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]\]?")
_ASSIGNMENT = re.compile(rf"\s*({_DOTTED})\s*=")
_VALUE = re.compile(r'''"""|\'\'\'|"(?:[^"\\]|\\.)*"|'[^']*'|\#.*|[\[\]{}]''')


def _places(text: str) -> list[tuple[int, Path]]:
    """Return every table header and assignment with its line and full path; the content of multi-line values is skipped."""
    places: list[tuple[int, Path]] = []
    table: Path = ()
    counts: dict[Path, int] = {}  # arrays of tables
    depth, quote = 0, ""
    for number, row in enumerate(text.splitlines(), 1):
        start = 0
        if depth == 0 and not quote:
            if header := _HEADER.match(row):
                keys = _keys(header[2])
                path = _indexed(keys, counts)
                if header[1] == "[[":
                    counts[path] = counts.get(path, -1) + 1
                    path = (*path, counts[path])
                table = path
                places.append((number, table))
                continue
            if not (assignment := _ASSIGNMENT.match(row)):
                continue
            places.append((number, (*table, *_keys(assignment[1]))))
            start = assignment.end()
        depth, quote = _after(row, start, depth, quote)
    return places


def _indexed(keys: tuple[str, ...], counts: dict[Path, int]) -> Path:
    path: Path = ()
    for place, key in enumerate(keys):
        path = (*path, key)
        if path in counts and place < len(keys) - 1:
            path = (*path, counts[path])
    return path


def _keys(dotted: str) -> tuple[str, ...]:
    return tuple(key[1:-1] if key[0] in "\"'" else key for key in re.findall(_KEY, dotted))


def _after(row: str, start: int, depth: int, quote: str) -> tuple[int, str]:
    """Return the number of open brackets and the open multi-line string at the end of a row."""
    while True:
        if quote:
            end = row.find(quote, start)
            if end < 0:
                return depth, quote
            start, quote = end + 3, ""
        token = _VALUE.search(row, start)
        if token is None:
            return depth, ""
        start = token.end()
        if token[0] in ('"""', "'''"):
            quote = token[0]
        elif token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1


def key(name: str) -> str:
    """Return a key, quoted if necessary."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else string(name)


def string(text: str) -> str:
    """Return a basic string: printable text unchanged, everything else escaped (TOML 1.0, "String")."""
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    body = (
        short.get(letter)
        or ("\ufffd" if "\ud800" <= letter <= "\udfff" else letter if letter.isprintable() else f"\\U{ord(letter):08X}")
        for letter in text
    )
    return f'"{"".join(body)}"'


def value(plain: Any) -> str:
    """Return a string, boolean, number, or a list or inline table of these.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, str):
        return string(plain)
    if isinstance(plain, (int, float)):
        return repr(plain)  # inf, nan and 1e+16 are valid TOML
    if isinstance(plain, (list, tuple)):
        return f"[{', '.join(map(value, plain))}]"
    if isinstance(plain, dict):
        inside = ", ".join(f"{key(str(name))} = {value(entry)}" for name, entry in plain.items())
        return f"{{ {inside} }}" if inside else "{}"
    raise TypeError(f"no TOML for {type(plain).__name__}")
