"""Select the lines to parse: those that contain a literal; if all lines differ, as many as the time allows.

One regular expression searches many lines at once for the literals of all patterns. A log whose lines all differ takes 30 times
as long as others, so CPU time is limited.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gpucheck.core.logs.reading.patterns import Pattern

DIGITS = str.maketrans("123456789", "0" * 9)  # makes lines that differ only in numbers equal
IDENTIFIERS = str.maketrans("", "", "0123456789abcdef")  # numbers, addresses, UUIDs
_CACHE_SIZE = 1 << 16  # cached lines with masked digits
Shape = tuple[int, str]  # equal for lines that differ only in numbers and identifiers: a hash, and the first literal
_NOTHING: Shape = (0, "")  # the shape of lines without a literal

SEARCH_SECONDS_PER_CHARACTER = 30e-9  # searching for literals counts only above this
# When the allowance is used up, only lines whose first literal is rare so far are parsed:
RARE = 30
RARE_SECONDS = 1.0  # the limit for these lines
_USELESS = 10_000  # lines found by literals that are no longer rare, after which the pattern for rare ones is rebuilt

CLOSE_SECONDS = 1.5  # in total, for parsing selected lines,
SECONDS_PER_CHARACTER = 12e-9  # plus this for each character of the log
AGAIN_SECONDS = 0.1  # balance required before parsing continues after the allowance was used up
LAST_SECONDS = 1.0  # for the end of a log, which has the reason why a program ended


class Allowance:
    """The CPU time for one log. A log that uses it up is sampled evenly."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start with nothing spent; ``clock`` returns the CPU time of this thread, in seconds."""
        self.clock = clock
        self.left = CLOSE_SECONDS
        self.is_used_up = False

    def grant(self, characters: int, *, is_last: bool) -> None:
        """Add time for more characters of the log; ``is_last``: the log ends here."""
        self.left += characters * SECONDS_PER_CHARACTER
        if is_last:
            self.left = max(self.left, LAST_SECONDS)
        self.is_used_up = self.left < (AGAIN_SECONDS if self.is_used_up else 0.0)

    def spend(self, seconds: float) -> None:
        """Subtract time that was used."""
        self.left -= seconds


class Literals:
    """The literals of all patterns, searched by one regular expression, in which every digit is 0 as in masked lines."""

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        entries = [(order, literal, entry) for order, entry in enumerate(patterns) for literal in entry.literals]
        self._masked = [literal.translate(DIGITS) for _, literal, _ in entries]
        self._all = self._rare = _compiled(self._masked)
        self._often: frozenset[str] = frozenset()  # the literals that are not in the pattern for rare ones
        self._by_head: dict[str, list[tuple[int, str, Pattern]]] = {}  # by the shortest literal that is a prefix, masked
        for masked, entry in zip(self._masked, entries, strict=True):
            head = self._all.match(masked)
            self._by_head.setdefault(head[0] if head else masked, []).append(entry)

    def first(self, masked: list[str], often: frozenset[str] = frozenset()) -> Iterator[tuple[int, str]]:
        """Yield the number of each line that contains a literal, and its first literal; digits are masked in both.

        Args:
            masked: the lines, with masked digits.
            often: literals to skip, with those that start with them.
        """
        if often and often != self._often:
            heads = tuple(often)
            self._often, self._rare = often, _compiled(text for text in self._masked if not text.startswith(heads))
        return _first(self._rare if often else self._all, "\n".join(masked))

    def candidates(self, line: str) -> list[Pattern]:
        """Return the patterns with a literal in the line, in their order."""
        masked, heads, position = _without_digits(line), set(), 0
        while match := self._all.search(masked, position):
            heads.add(match[0])
            position = match.start() + 1  # literals may overlap
        named = {order: entry for head in heads for order, literal, entry in self._by_head[head] if literal in line}
        return [named[order] for order in sorted(named)]


class Screen:
    """Selects lines, and tracks counts and time."""

    def __init__(self, literals: Literals, allowance: Allowance) -> None:
        """Start with no lines."""
        self.skimmed = 0  # lines that were skipped for lack of time
        self._literals, self._allowance = literals, allowance
        self._began = 0.0
        self._shapes_by_line: dict[int, Shape] = {}  # by lines with masked digits, so that equal lines are searched once
        self._counts: dict[str, int] = {}  # parsed lines by their first literal
        self._often: frozenset[str] = frozenset()  # literals that are not rare
        self._useless = _USELESS

    def lines(self, lowered: list[str], *, is_last: bool) -> list[tuple[int, Shape]]:
        """Return the lines to parse: number and shape."""
        size, allowance = sum(map(len, lowered)), self._allowance
        allowance.grant(size, is_last=is_last)
        if allowance.left < -RARE_SECONDS:
            self.skimmed += len(lowered)
            return []
        began = allowance.clock()
        masked = _without_digits("\n".join(lowered)).split("\n")
        selected = self._rare_ones(masked) if allowance.is_used_up else self._select(lowered, masked)
        free = 0.0 if allowance.is_used_up else size * SEARCH_SECONDS_PER_CHARACTER
        allowance.spend(max(0.0, allowance.clock() - began - free))
        return selected

    def begin(self, shape: Shape, must: bool = False) -> bool:
        """Whether to parse a line of this shape: time is left, or it is rare or required; if so, call ``end`` afterwards."""
        count = self._counts.get(shape[1], 0)
        if not must and self._allowance.left < 0 and (count >= RARE or self._allowance.left < -RARE_SECONDS):
            self.skimmed += 1
            self._useless += 1
            return False
        self._counts[shape[1]] = count + 1
        self._began = self._allowance.clock()
        return True

    def end(self) -> None:
        """End the parsing of a line."""
        self._allowance.spend(self._allowance.clock() - self._began)

    def _select(self, lines: list[str], masked: list[str]) -> list[tuple[int, Shape]]:
        if len(self._shapes_by_line) >= _CACHE_SIZE:
            self._shapes_by_line.clear()
        shapes, keys = self._shapes_by_line, list(map(hash, masked))
        new, distinct = [], set(keys)
        if new_keys := distinct.difference(shapes):
            new = [index for index, key in enumerate(keys) if key in new_keys]
            shapes.update(dict.fromkeys(new_keys, _NOTHING))
        single: dict[int, Shape] = {}  # lines whose digits matter
        for number, literal in self._literals.first([masked[index] for index in new]):
            index = new[number]
            if "xid" in masked[index]:  # every number of an Xid matters
                single[index] = hash(lines[index]), literal
                continue
            shape = _shape(masked[index], literal)
            if "0" not in literal:
                shapes[keys[index]] = shape
            else:
                single[index] = shape if self._literals.candidates(lines[index]) else _NOTHING
        known = {key: shape for key in distinct if (shape := shapes[key]) is not _NOTHING}
        selected = [(index, known[key]) for index, key in enumerate(keys) if key in known] if known else []
        for index in single:
            shapes.pop(keys[index], None)
        return sorted(selected + [(index, shape) for index, shape in single.items() if shape is not _NOTHING])

    def _rare_ones(self, masked: list[str]) -> list[tuple[int, Shape]]:
        if self._useless >= _USELESS:
            self._often, self._useless = frozenset(literal for literal, count in self._counts.items() if count >= RARE), 0
        rare = [(index, _shape(masked[index], literal)) for index, literal in self._literals.first(masked, self._often)]
        self.skimmed += len(masked) - len(rare)
        return rare


def _without_digits(text: str) -> str:
    """Return the text with every digit as 0, so that lines that differ only in numbers are equal."""
    if text.isascii():
        return text.translate(DIGITS)
    for digit in "123456789":  # str.translate is slow for other alphabets
        text = text.replace(digit, "0")
    return text


def _shape(masked: str, literal: str) -> Shape:
    return hash(masked.translate(IDENTIFIERS)), literal


def _first(regex: "re.Pattern[str]", text: str) -> Iterator[tuple[int, str]]:
    """Yield the first match in each line, with the line's number: searched at once, because most lines have none."""
    row = start = 0
    while match := regex.search(text, start):
        row += text.count("\n", start, match.start())
        yield row, match[0]
        end = text.find("\n", match.end())
        if end < 0:
            return
        row, start = row + 1, end + 1


def _compiled(words: Iterable[str]) -> "re.Pattern[str]":
    return re.compile(_spell(_tree(words)))


def _tree(words: Iterable[str]) -> dict[str, Any]:
    """Return the words as a tree of letters; "" marks an end."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return tree


def _spell(tree: dict[str, Any]) -> str:
    """Return the tree as a regex: much faster than alternatives of words; it matches the shortest word.

    The tree of no words matches nothing.
    """
    if not tree:
        return "(?!)"
    if "" in tree:
        return ""
    branches = [re.escape(letter) + _spell(rest) for letter, rest in sorted(tree.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
