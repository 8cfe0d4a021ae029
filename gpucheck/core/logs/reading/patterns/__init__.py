"""What each line means, as data: ``TOPIC.txt`` holds the patterns of a topic, ``TOPIC.py`` the functions that some of them need.

    PART:                                 a part of regexes, which write it as {PART}; those of ``common.txt`` are every topic's
        regex

    kind: literal || literal              a line without any of the literals (lower case, plain) is never handed to the regex
        regex                             as many lines as it takes, joined with nothing in between
        => field=value, _function(), +3 lines

A pattern's named groups are the event's fields; ``name2`` and ``name3`` are alternatives of ``name``. Behind ``=>`` may stand
fields that have one value, the function that makes the fields, and how many following lines the match may run into.

A pattern rests on structure that survives a rewording: error codes, status words, names of libraries and calls. The
letter that grades a line (I, W, E, F) is no part of it, because TensorFlow and XLA grade harmless lines as errors.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gpucheck.core.logs.events import Kind

Fields = Callable[["re.Match[str]"], "dict[str, str] | None"]

TOPICS = (
    *("allocator", "capabilities", "cluster", "container", "cuda", "cudnn", "forms", "health", "keras", "kernel", "libraries"),
    *("memory", "nccl", "nvml", "pip", "platforms", "python", "tensorflow", "tpu", "training", "xla"),
)
_BLOCK = re.compile(r"^([^\s#].*)\n((?: {4}.*\n)+)", re.MULTILINE)
_OPTION = re.compile(r", (?=\+\d|\w+=|_\w+\(\))")
_PART = re.compile(r"\{([A-Z_]+)\}")
_QUOTES = ("'", '"', "`")
_MARK = re.compile(r"(?P<opens>(?<!\S)['\"`](?=\S)|(?<=[(\[=:,])['\"`](?=\w))|(?<=\S)['\"`](?!\w)")  # no apostrophe
_FIELD_LENGTH = 240  # characters; a message longer than that is a dump


def named(match: "re.Match[str]") -> dict[str, str] | None:
    """The pattern's named groups that took part, trimmed."""
    values = ((name, _trimmed(value)) for name, value in match.groupdict().items() if value is not None)
    return {name.rstrip("0123456789"): value[:_FIELD_LENGTH] for name, value in values if value}


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
    if before[-1:] in _QUOTES and (mark := next((quote for quote in _MARK.finditer(bare) if quote[0] == before[-1]), None)):
        bare = bare if mark["opens"] else before[-1] + bare
    return bare


def with_constants(fields: Fields, constants: dict[str, str]) -> Fields:
    """Those fields, and the constants where a field has no value of its own."""

    def both(match: "re.Match[str]") -> dict[str, str] | None:
        values = fields(match)
        return None if values is None else {**constants, **values}

    return both


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


def load(topics: Iterable[str] = TOPICS) -> tuple[Pattern, ...]:
    """Every pattern of these topics."""
    common: dict[str, str] = {}
    list(_read("common", common))
    return tuple(pattern for topic in topics for pattern in _read(topic, dict(common)))


def _read(topic: str, parts: dict[str, str]) -> Iterator[Pattern]:
    """The patterns of a file; its parts are added to ``parts``."""
    text = (pkgutil.get_data(__name__, f"{topic}.txt") or b"").decode()
    for heading, block in _BLOCK.findall(text):
        lines = [line[4:] for line in block.splitlines()]
        options = _OPTION.split(lines.pop()[3:]) if lines[-1].startswith("=> ") else []
        regex = _PART.sub(lambda part: parts[part[1]], "".join(lines))
        kind, _, literals = heading.partition(": ")
        if literals:
            yield Pattern(Kind(kind), tuple(literals.split(" || ")), regex, *_options(topic, options))
        else:
            parts[heading.rstrip(":")] = regex


def _options(topic: str, options: list[str]) -> tuple[Fields, int]:
    """How the fields are made, and how many following lines the match may run into."""
    constants: dict[str, str] = {}
    fields, following = named, 0
    for option in options:
        name, _, value = option.partition("=")
        if name.endswith("()"):
            fields = getattr(importlib.import_module(f"{__name__}.{topic}"), name[:-2])
        elif name.startswith("+"):
            following = int(name.split()[0])
        else:
            constants[name] = value
    return with_constants(fields, constants) if constants else fields, following
