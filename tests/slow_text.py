"""Texts on which a regular expression may be slow, generated from the expression."""

import re
import time

try:
    from re import _constants as op
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as op
    import sre_parse as parser

_LETTERS = "a 1:.-,'\"/=x_([A~"  # each set of characters matches one of them
_LONG = 20  # a longer repetition may contain any text


def attacks(pattern):
    """Pairs of a prefix and a part to repeat after it: samples of every part of the pattern, for the first and last alternatives."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found = {}
    for last in (False, True):
        _Samples(last).collect(tree, "", found)
    return [(start, part) for start, part in found if part]


def text(start, part, length):
    """The start, followed by repetitions of the part."""
    return start + part * max((length - len(start)) // len(part), 1)


def seconds(search, line):
    """CPU seconds of a search."""
    begun = time.thread_time()
    search(line)
    return time.thread_time() - begun


def repeats_endlessly(pattern):
    """Whether a repeat in the pattern has no upper bound."""

    def endless(value):
        if isinstance(value, (parser.SubPattern, list, tuple)):
            return any(endless(part) for part in value)
        return value is op.MAXREPEAT

    return endless(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))


class _Samples:
    """Samples of text that match parts of a pattern, with the last or first alternatives."""

    def __init__(self, last):
        self._alternative = -1 if last else 0

    def collect(self, tree, before, found):
        position = before
        for node in tree:
            kind, value = node
            if kind is op.BRANCH:
                for alternative in value[1]:
                    found.setdefault((position, self._of(alternative)))
                    self.collect(alternative, position, found)
            elif kind is op.SUBPATTERN:
                self.collect(value[3], position, found)
            elif kind in (op.ASSERT, op.ASSERT_NOT):
                self.collect(value[1], position, found)
            elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
                for part in (self._of(value[2]), *(("a", " ", "1") if value[1] > _LONG else ())):
                    found.setdefault((position, part))
                self.collect(value[2], position, found)
            position += self._of([node])
            found.setdefault(("", position))

    def _of(self, tree):
        return "".join(self._one(*node) for node in tree)

    def _one(self, kind, value):
        if kind is op.LITERAL:
            return chr(value)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._of(value[2]) * max(value[0], 1 if value[1] else 0)
        if kind is op.BRANCH:
            return self._of(value[1][self._alternative])
        if kind is op.SUBPATTERN:
            return self._of(value[3])
        if kind is op.ANY:
            return "a"
        if kind is op.NOT_LITERAL:
            return "b" if chr(value) == "a" else "a"
        return self._of_set(value) if kind is op.IN else ""

    def _of_set(self, items):
        members = [item for item in items if item[0] is not op.NEGATE]
        negated = len(members) < len(items)
        if not negated and members[0][0] is op.LITERAL:
            return chr(members[0][1])
        if not negated and members[0][0] is op.RANGE:
            return chr(members[0][1][0])
        return next((letter for letter in _LETTERS if any(_fits(letter, *item) for item in members) is not negated), "\u4e2d")


def _fits(letter, kind, value):
    if kind is op.LITERAL:
        return ord(letter) == value
    if kind is op.RANGE:
        return value[0] <= ord(letter) <= value[1]
    is_member = {op.CATEGORY_DIGIT: str.isdigit, op.CATEGORY_SPACE: str.isspace, op.CATEGORY_WORD: _is_word}
    opposite = {op.CATEGORY_NOT_DIGIT: str.isdigit, op.CATEGORY_NOT_SPACE: str.isspace, op.CATEGORY_NOT_WORD: _is_word}
    return is_member[value](letter) if value in is_member else not opposite[value](letter)


def _is_word(letter):
    return letter.isalnum() or letter == "_"
