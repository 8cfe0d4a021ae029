"""Match paths against one .gitignore file, as gitignore(5) defines it, in bounded time for any pattern.

A pattern becomes one regular expression, which commits to the first match of the text between two stars: that text has a
fixed length, so a later match is never better. Otherwise it would try every way to divide a name among the stars.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PATTERN_LENGTH_MAX = 1000  # longer patterns are skipped
POSIX = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "xdigit": "0-9a-fA-F"}
POSIX |= {"blank": " \t", "space": " \t-\r", "cntrl": "\\x00-\\x1f\\x7f"}
POSIX |= {"print": " -~", "graph": "!-~", "punct": "!-/:-@\\[-`{-~"}
_IN_BRACKETS = r"\[:\w*:\]|\\.|[^\]\\]"
_TOKEN = re.compile(
    rf"(?P<star>\*+)|(?P<any>\?)|\[(?P<not>[!^]?)(?P<set>(?:\]|{_IN_BRACKETS})(?:{_IN_BRACKETS})*)\]|\\(?P<escaped>.)|(?P<plain>[^\\\[])",
    re.DOTALL,
)
_MEMBER = re.compile(r"\[:(?P<posix>\w*):\]|(?P<first>\\?.)(?:-(?P<last>\\.|[^\\]))?", re.DOTALL)
_NEVER = "(?!)"


class Pattern(NamedTuple):
    """One line of the file."""

    ignores: bool  # False: it starts with "!" and re-includes
    folders_only: bool
    path: re.Pattern[str]

    def matches(self, path: Sequence[str], *, folder: bool) -> bool:
        """Whether the pattern matches a path, given as names relative to the file's folder; ``folder``: the path is a folder."""
        return (folder or not self.folders_only) and self.path.match("/".join(path)) is not None


def patterns(text: str) -> list[Pattern]:
    """Return the patterns of a file in reverse order, because the last match wins. Invalid lines are skipped, as in git."""
    lines = text.removeprefix("\ufeff").split("\n")
    return [pattern for line in reversed(lines) if (pattern := _parse(line)) is not None]


def _parse(line: str) -> Pattern | None:
    line = _stripped(line.removesuffix("\r"))
    if not line or line.startswith("#") or len(line) > PATTERN_LENGTH_MAX:
        return None
    ignores, line = not line.startswith("!"), line.removeprefix("!")
    folders_only, line = line.endswith("/"), line.removesuffix("/")
    if "/" not in line:
        line = f"**/{line}"
    names = line.removeprefix("/").split("/")
    if len(names[-1]) > 1 and not names[-1].strip("*"):  # matches the folder's content, but not the folder
        names.append("*")
    return Pattern(ignores, folders_only, re.compile(_path(names), re.DOTALL))


def _stripped(line: str) -> str:
    """Return the line without trailing spaces, unless escaped by a backslash."""
    text = line.rstrip(" ")
    kept = (len(text) - len(text.rstrip("\\"))) % 2 and text != line
    return text + " " * kept


def _path(names: Sequence[str]) -> str:
    """Return the regular expression for a path; a name that consists only of stars matches any number of names."""
    numbers = itertools.count()
    parts = [""]
    for name in names[:-1]:
        if len(name) > 1 and not name.strip("*"):
            parts.append("")
        else:
            parts[-1] += f"{_name(name, numbers)}/"
    return f"{_joined(parts, '(?:[^/]+/)*', numbers)}{_name(names[-1], numbers)}\\Z"


def _name(pattern: str, numbers: Iterator[int]) -> str:
    """Return the regular expression for one name of a path."""
    pieces, at = [""], 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:  # an unclosed bracket, or a trailing backslash
            return _NEVER
        at = token.end()
        if token["star"]:
            pieces.append("")
        else:
            pieces[-1] += _character(token)
    return _joined(pieces, "[^/]*", numbers)


def _joined(pieces: Sequence[str], gap: str, numbers: Iterator[int]) -> str:
    """Return the regular expression for pieces with gaps between them. It commits to the first match of all but the last gap.

    An atomic group never backtracks; since Python 3.11 it can be written ``(?>...)``.
    """
    first, *others = pieces
    numbered = zip(others[:-1], numbers, strict=False)
    committed = (f"(?=(?P<first{number}>{gap}?{piece}))(?P=first{number})" for piece, number in numbered)
    return "".join([first, *committed, *(f"{gap}{piece}" for piece in others[-1:])])


def _character(token: re.Match[str]) -> str:
    """Return the regular expression for one character of a pattern."""
    if token["any"]:
        return "[^/]"
    if not token["set"]:
        return re.escape(token["escaped"] or token["plain"])
    members = [_member(member) for member in _MEMBER.finditer(token["set"])]
    return f"(?!/)[{'^' * bool(token['not'])}{''.join(members)}]" if all(members) else _NEVER


def _member(member: re.Match[str]) -> str:
    """Return a character or a range of a bracket expression; "" for an unknown class."""
    if member["posix"] is not None:
        return POSIX.get(member["posix"], "")
    first, last = (text[-1:] for text in (member["first"], member["last"] or ""))
    return f"{re.escape(first)}-{re.escape(last)}" if last >= first else re.escape(first)
