"""Match paths against one .gitignore file, as gitignore(5) defines it, in bounded time for any pattern.

A pattern is split at its stars. The pieces have a fixed length, so the first match of each is sufficient and nothing is tried
twice. One regular expression for the whole pattern would backtrack over every way to divide a name among the stars.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

LONGEST = 1000  # characters of a pattern; longer ones are skipped
POSIX = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "xdigit": "0-9a-fA-F",
    "blank": " \t",
    "space": " \t-\r",
    "cntrl": "\\x00-\\x1f\\x7f",
    "print": " -~",
    "graph": "!-~",
    "punct": "!-/:-@\\[-`{-~",
}
_IN_BRACKETS = r"\[:\w*:\]|\\.|[^\]\\]"
_TOKEN = re.compile(
    rf"(?P<star>\*+)|(?P<any>\?)|\[(?P<not>[!^]?)(?P<set>(?:\]|{_IN_BRACKETS})(?:{_IN_BRACKETS})*)\]|\\(?P<escaped>.)|(?P<plain>[^\\\[])",
    re.DOTALL,
)
_SPECIAL = re.compile(r"[*?\[\\]")
_MEMBER = re.compile(r"\[:(?P<posix>\w*):\]|(?P<first>\\?.)(?:-(?P<last>\\.|[^\\]))?", re.DOTALL)
Segment = Callable[[str], bool]  # whether a name matches


class Pattern(NamedTuple):
    """One line of the file."""

    ignores: bool  # False: it starts with "!" and re-includes
    folders_only: bool
    parts: tuple[tuple[Segment, ...], ...]  # the names between each ``**``; the last part is never empty


class Patterns:
    """The lines of one file."""

    def __init__(self, text: str) -> None:
        """Parse the file's content. Lines that git does not understand either are skipped."""
        lines = text.removeprefix("\ufeff").split("\n")
        self._patterns = [pattern for line in reversed(lines) if (pattern := _parse(line)) is not None]

    def ignores(self, path: Sequence[str], *, folder: bool) -> bool | None:
        """Whether the last line that matches a path ignores it; None: no line matches.

        Args:
            path: its names, relative to the file's folder.
            folder: whether it is a folder. The caller does not query the content of ignored folders.
        """
        for pattern in self._patterns:
            if (folder or not pattern.folders_only) and pattern.parts[-1][-1](path[-1]) and _matches(pattern.parts, path):
                return pattern.ignores
        return None


def _parse(line: str) -> Pattern | None:
    line = _stripped(line.removesuffix("\r"))
    if not line or line.startswith("#") or len(line) > LONGEST:
        return None
    ignores, line = not line.startswith("!"), line.removeprefix("!")
    folders_only, line = line.endswith("/"), line.removesuffix("/")
    if "/" not in line:
        line = f"**/{line}"
    parts: list[list[Segment]] = [[]]
    names = line.removeprefix("/").split("/")
    if len(names[-1]) > 1 and not names[-1].strip("*"):  # the folder's content, but not the folder
        names.append("*")
    for name in names:
        if len(name) > 1 and not name.strip("*"):
            parts.append([])
        elif (segment := _segment(name)) is not None:
            parts[-1].append(segment)
        else:
            return None
    return Pattern(ignores, folders_only, tuple(map(tuple, parts)))


def _stripped(line: str) -> str:
    """Return the line without trailing spaces, unless escaped by a backslash."""
    text = line.rstrip(" ")
    kept = (len(text) - len(text.rstrip("\\"))) % 2 and text != line
    return text + " " * kept


def _segment(pattern: str) -> Segment | None:
    """Return a matcher for one name of a path; None if nothing can match."""
    if not _SPECIAL.search(pattern):
        return pattern.__eq__
    if pattern.startswith("*") and not _SPECIAL.search(pattern, 1):
        return lambda name: name.endswith(pattern[1:])
    pieces, at = [""], 0
    lengths = [0]
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:  # an unclosed bracket, or a trailing backslash
            return None
        at = token.end()
        if token["star"]:
            pieces.append("")
            lengths.append(0)
            continue
        pieces[-1] += _one(token)
        lengths[-1] += 1
    try:
        compiled = [re.compile(piece, re.DOTALL) for piece in pieces]
    except re.error:  # brackets that match nothing
        return None
    return _joined(compiled, lengths[-1])


def _one(token: re.Match[str]) -> str:
    """Return the regular expression for one character of a pattern."""
    if token["any"]:
        return "."
    if not token["set"]:
        return re.escape(token["escaped"] or token["plain"])
    members = "".join(map(_member, _MEMBER.finditer(token["set"])))
    return f"[{'^' * bool(token['not'])}{members}]"


def _member(member: re.Match[str]) -> str:
    if member["posix"] is not None:
        return POSIX.get(member["posix"], "")
    first, last = (text[-1:] for text in (member["first"], member["last"] or ""))
    return f"{re.escape(first)}-{re.escape(last)}" if last >= first else re.escape(first)


def _joined(pieces: list[re.Pattern[str]], last_length: int) -> Segment:
    """Match the first piece at the start, the last one at the end, and each other at its first occurrence."""
    first, *others = pieces
    if not others:
        return lambda name: first.fullmatch(name) is not None
    *middle, last = others

    def matches(name: str) -> bool:
        end = len(name) - last_length
        found = first.match(name)
        if found is None or found.end() > end or not last.match(name, end):
            return False
        for piece in middle:
            found = piece.search(name, found.end(), end)
            if found is None:
                return False
        return True

    return matches


def _matches(parts: Sequence[Sequence[Segment]], path: Sequence[str]) -> bool:
    """Do the same as ``_joined``, with names instead of characters."""
    if len(parts) == 1:
        return len(path) == len(parts[0]) and _fits(parts[0], path, 0)
    first, *middle, last = parts
    at, end = len(first), len(path) - len(last)
    if at > end or not _fits(last, path, end) or not _fits(first, path, 0):
        return False
    for part in middle:
        while at + len(part) <= end and not _fits(part, path, at):
            at += 1
        at += len(part)
        if at > end:
            return False
    return True


def _fits(part: Sequence[Segment], path: Sequence[str], at: int) -> bool:
    return all(segment(name) for segment, name in zip(part, path[at : at + len(part)], strict=True))
