"""Patterns are fast on adversarial lines: at most a few times slower than a simple quadratic pattern."""

import importlib
import pkgutil
import re

import slow_text

import gpucheck.core.logs
from gpucheck.core.logs.reading import patterns, reader

_LENGTHS = (64, 128, 192, 256)  # tried first, because an exponential pattern would not return for a long line
_LONGEST = 4096  # characters of a line and its continuation, as the reader passes them
_TRIED = 200  # attacks for each pattern
_SLOWEST = 4  # number of the slowest attacks tried on long lines


def test_patterns_are_fast_on_adversarial_lines():
    quadratic = min(slow_text.seconds(re.compile("a[^b]*b").search, "a" * _LONGEST) for _ in range(3))
    slow = {}
    for name, pattern, search, length in _patterns():
        if worst := _slow(pattern, search, length, 4 * quadratic):
            slow[name] = (pattern.pattern[:80], worst)
    assert slow == {}


def test_every_repeat_of_a_pattern_is_bounded():
    """So that its time is linear in the length of the line; this is checked without measuring times."""
    regexes = {regex for entry in reader.PATTERNS for regex in entry.regexes}
    endless = {regex for regex in regexes if slow_text.repeats_endlessly(re.compile(patterns.bounded(regex)))}
    assert endless == set()
    assert slow_text.repeats_endlessly(re.compile("a|(?:b[c*]d+)"))


def test_slow_pattern_is_detected():
    for pattern in (r"(?P<path>[^\s:]{0,160}Cache[^\s:]*).{0,60}?no space", r'(?:t=(?:"[^"]*"|\S+) +)+m', r"(?:\w+\.)*Error: "):
        compiled = re.compile(pattern)
        assert _slow(compiled, compiled.search, _LONGEST, 0.05), pattern


def _slow(pattern, search, length, limit):
    """The attack that exceeds the limit in CPU seconds, or None."""
    measured = []
    for start, part in slow_text.attacks(pattern)[:_TRIED]:
        for size in _LENGTHS:
            taken = slow_text.seconds(search, slow_text.text(start, part, size))
            if taken > limit:
                return start, part, size
        measured.append((taken, start, part))
    for _, start, part in sorted(measured, reverse=True)[:_SLOWEST]:
        if all(slow_text.seconds(search, slow_text.text(start, part, length)) > limit for _ in range(2)):
            return start, part, length
    return None


def _patterns():
    """Name, pattern, how it is used, and the length it is used on: of every pattern, and of every module of the package."""
    known = {}
    for entry in reader.PATTERNS:
        length = _LONGEST if entry.continuation_lines else _LONGEST // 2
        for regex in entry.regexes:
            known[regex] = entry.kind, max(length, known.get(regex, ("", 0))[1])
    for source, (kind, length) in known.items():
        pattern = re.compile(patterns.bounded(source))
        yield f"{kind}: {source[:40]}", pattern, pattern.search, length
    for module in pkgutil.walk_packages(gpucheck.core.logs.__path__, "gpucheck.core.logs."):
        for name, pattern in vars(importlib.import_module(module.name)).items():
            if isinstance(pattern, re.Pattern):
                yield f"{module.name}.{name}", pattern, pattern.match, _LONGEST // 2
