"""The patterns of log lines and their events, as data: one file per topic.

    PART:                                 part of a block, used as {PART}; that of ``common.txt`` is available to all topics
        text

    kind: literal || literal              the regex is only tried on lines with one of the literals (plain, lower case)
        regex                             on any number of lines, which are joined without a separator
        unless regex                      not an event if the line contains this
        field=value where regex           the field has that value if the line contains this
        do words                          the fix: the field "cure", with fields in braces; a line " words" continues it
        pip requirement                   the package to install: the field "install"
        => field=value, word -> other, lower, file names, function(), +3 lines

A pattern's named groups are the event's fields; ``name2`` and ``name3`` are alternatives of ``name``. ``=>`` sets
fields that the line does not contain, also from other fields (``device=GPU:{number}``), replaces words, converts values to lower
case or paths to file names, names the function of ``converters.py`` that makes the fields, and gives the number of following
lines that a match may include.

A pattern uses what survives a rewording: error codes, status words, names of libraries and calls. It does not use the
severity letter of a line (I, W, E, F), because TensorFlow and XLA log harmless lines as errors.
"""

import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple

from gpucheck.core.logs.reading.patterns import converters, fields
from gpucheck.core.logs.reading.patterns.fields import Fields, named

TOPICS = (
    *("allocator", "capabilities", "cluster", "container", "cuda", "cudnn", "forms", "health", "keras", "kernel", "libraries"),
    *("memory", "nccl", "nvml", "pip", "platforms", "programs", "python", "tensorflow", "tpu", "training", "xla"),
)
_CHANGES = {"lower": fields.lowered, "file names": fields.file_names}
_BLOCK = re.compile(r"^([^\s#].*)\n((?: {4}.*\n)+)", re.MULTILINE)
_OPTION = re.compile(r", ?(?=\+\d|\w+=|\w+\(\)|lower\b|file names\b|[\w. ]+ -> )")
_WHERE = re.compile(r"(\w+)=(\S+) where (.+)")
_PART = re.compile(r"\{([A-Z_]+)\}")
_LONGEST_REPEAT = 512
_REPEAT = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[*+]|(?<=\d),(?=\})")  # skips escapes and sets of characters


@cache
def compiled(regex: str) -> "re.Pattern[str]":
    """Return the compiled regex with a limit on every repeat, without which a long repetition takes quadratic time."""
    return re.compile(bounded(regex))


def bounded(regex: str) -> str:
    """Return the regex with a limit on every repeat."""
    most = {"*": f"{{0,{_LONGEST_REPEAT}}}", "+": f"{{1,{_LONGEST_REPEAT}}}", ",": f",{_LONGEST_REPEAT}"}
    return _REPEAT.sub(lambda sign: most.get(sign[0], sign[0]), regex)


class Pattern(NamedTuple):
    """One kind of line. In a topic, the more specific pattern of a kind comes first, because a line yields one event per kind."""

    kind: str
    literals: tuple[str, ...]  # lower case, plain: the regex is only tried on lines with one of them
    regex: str  # compiled at first use; searched in the line without its prefixes
    unless: str = ""  # a regex
    where: tuple[tuple[str, str, str], ...] = ()  # field, value, regex
    convert: Fields = named
    constants: tuple[tuple[str, str], ...] = ()  # field, value
    changes: tuple[Callable[[dict[str, str]], dict[str, str]], ...] = ()  # of the fields, in this order
    continuation_lines: int = 0

    @property
    def regexes(self) -> tuple[str, ...]:
        """All regexes of the pattern."""
        return (self.regex, *filter(None, [self.unless]), *(regex for _, _, regex in self.where))

    def fields(self, match: "re.Match[str]") -> dict[str, str] | None:
        """Return the event's fields; None if the match is not an event."""
        if self.unless and _matches(self.unless, match):
            return None
        values = self.convert(match)
        if values is None:
            return None
        for change in self.changes:
            values = change(values)
        values |= {name: value for name, value, regex in self.where if _matches(regex, match)}
        return fields.with_constants(values, self.constants)


def _matches(regex: str, match: "re.Match[str]") -> bool:
    return compiled(regex).search(match.string, 0, match.endpos) is not None


def load(topics: Iterable[str] = TOPICS) -> tuple[Pattern, ...]:
    """Return all patterns of these topics."""
    common: dict[str, str] = {}
    list(parsed(_text("common"), common))
    return tuple(pattern for topic in topics for pattern in parsed(_text(topic), dict(common)))


def _text(topic: str) -> str:
    return (pkgutil.get_data(__name__, f"{topic}.txt") or b"").decode()


def parsed(text: str, parts: dict[str, str]) -> Iterator[Pattern]:
    """Yield the patterns of a file's text, and add its parts to ``parts``."""
    for heading, block in _BLOCK.findall(text):
        lines = [_PART.sub(lambda part: parts[part[1]], line[4:]) for line in block.splitlines()]
        kind, _, literals = heading.partition(": ")
        if literals:
            yield _pattern(kind, tuple(literals.split(" || ")), lines)
        else:
            parts[heading.rstrip(":")] = "".join(lines)


def _pattern(kind: str, literals: tuple[str, ...], lines: list[str]) -> Pattern:
    """Return the pattern of a block."""
    pattern, cure = Pattern(kind, literals, ""), ""
    for line in lines:
        if line.startswith("=> "):
            for option in _OPTION.split(line[3:]):
                pattern = _with(pattern, option)
        elif line.startswith("do ") or (cure and line.startswith(" ")):
            cure += line.removeprefix("do ")
        elif line.startswith("pip "):
            pattern = pattern._replace(constants=(*pattern.constants, ("install", line.removeprefix("pip "))))
        elif line.startswith("unless "):
            pattern = pattern._replace(unless=line.removeprefix("unless "))
        elif where := _WHERE.fullmatch(line):
            pattern = pattern._replace(where=(*pattern.where, (where[1], where[2], where[3])))
        else:
            pattern = pattern._replace(regex=pattern.regex + line)
    if cure:
        pattern = pattern._replace(constants=(*pattern.constants, ("cure", cure)))
    return pattern


def _with(pattern: Pattern, option: str) -> Pattern:
    if option in _CHANGES:
        return pattern._replace(changes=(*pattern.changes, _CHANGES[option]))
    if option.startswith("+"):
        return pattern._replace(continuation_lines=int(option.split()[0]))
    if option.endswith("()"):
        return pattern._replace(convert=getattr(converters, option[:-2]))
    if " -> " in option:
        word, _, other = option.partition(" -> ")
        return pattern._replace(changes=(*pattern.changes, partial(fields.replaced, words={word: other})))
    name, _, value = option.partition("=")
    return pattern._replace(constants=(*pattern.constants, (name, value)))
