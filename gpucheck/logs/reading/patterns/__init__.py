"""What each line means: one file per topic, each a tuple ``PATTERNS``. Adding a line is adding a ``Pattern``.

A pattern rests on structure that survives a rewording: error codes, status words, names of libraries and calls. The
letter that grades a line (I, W, E, F) is no part of it, because TensorFlow and XLA grade harmless lines as errors.
"""

import importlib
import re
from collections.abc import Callable
from typing import NamedTuple

from gpucheck.engine.plugin import modules
from gpucheck.logs.events import Kind

Fields = Callable[["re.Match[str]"], "dict[str, str] | None"]

# Between a call and its result: a few words of any language, but no place, no duration and no comment.
SAYS = r"(?!\W{0,8}(?://|#))\W{0,4}(?:(?!(?:line|in|at|on|took|after|with|for)\b)[^\W\d]+\W{1,4}){0,3}"

_QUOTES = ("'", '"', "`")
_MARK = re.compile(r"(?P<opens>(?<!\S)['\"`](?=\S)|(?<=[(\[=:,])['\"`](?=\w))|(?<=\S)['\"`](?!\w)")  # no apostrophe
_FIELD_LENGTH = 240  # characters; a message longer than that is a dump


def named(match: "re.Match[str]") -> dict[str, str] | None:
    """The pattern's named groups that took part, trimmed."""
    found = {name: _trimmed(value) for name, value in match.groupdict().items() if value is not None}
    return {name: value[:_FIELD_LENGTH] for name, value in found.items() if value}


def _trimmed(value: str) -> str:
    """The value without the quotation marks around it; those of its first and last word stay in pairs."""
    bare = value.strip(" \t'\"`,;")
    if not bare:
        return bare
    before, _, behind = value.partition(bare)
    if (
        behind[:1] in _QUOTES
        and (marks := [mark for mark in _MARK.finditer(bare) if mark[0] == behind[0]])
        and marks[-1]["opens"]
    ):
        bare += behind[0]
    if before[-1:] in _QUOTES and (mark := next((one for one in _MARK.finditer(bare) if one[0] == before[-1]), None)):
        bare = bare if mark["opens"] else before[-1] + bare
    return bare


def fixed(**constants: str) -> Fields:
    """The named groups and these constants."""

    def fields(match: "re.Match[str]") -> dict[str, str] | None:
        return {**(named(match) or {}), **constants}

    return fields


def cells(match: "re.Match[str]") -> list[tuple[str, str]]:
    """Name and value of each column of a comma-separated query: a line of names, and the first line of values."""
    cells = match[0].split(", ")
    middle = len(cells) // 2  # it holds the last name and the first value
    last = re.match(r"[\w.]+(?: \[[^\]]*\])?", cells[middle])
    if last is None:
        return []
    names, values = [*cells[:middle], last[0]], [cells[middle][last.end() :], *cells[middle + 1 :]]
    return [(name, value.strip()) for name, value in zip(names, values, strict=False)]


class Pattern(NamedTuple):
    """One recognisable line. Within a topic the more telling pattern of a kind stands first: a line gives one event per kind."""

    kind: Kind
    literals: tuple[str, ...]  # lower case, plain: a line without any of them is never handed to the regular expression
    regex: str  # compiled at first use; searched in the line without its prefixes, from inside its first line
    fields: Fields = named  # None: no event after all
    continuation_lines: int = 0  # following lines without a prefix of their own that the match may run into


def load() -> tuple[Pattern, ...]:
    """Every pattern of every topic."""
    topics = (importlib.import_module(name) for name in modules(__name__))
    return tuple(pattern for topic in topics for pattern in topic.PATTERNS)
