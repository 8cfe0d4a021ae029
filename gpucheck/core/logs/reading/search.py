"""Which lines hold a word that a pattern asks for: one pattern for all of them, over many lines at once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from gpucheck.core.logs.reading.patterns import Pattern

_OTHER_LETTER = re.compile("[^\x00-\x7f\xa0-\xbf\u2000-\u2fff]")  # progress bars are drawn with what is left out
DIGITS = str.maketrans("123456789", "0" * 9)  # lines that differ in numbers only are the same then


class Literals:
    """The literals of all patterns, searched for by one regular expression."""

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self._entries = [(order, literal, entry) for order, entry in enumerate(patterns) for literal in entry.literals]
        self._by_head: dict[str, list[tuple[int, str, Pattern]]] = {}  # by the shortest literal that a literal begins with
        self._masks: dict[tuple[bool, frozenset[str]], re.Pattern[str] | None] = {}
        self._ascii = self._regex(ascii_only=True)
        self._index(self._ascii, is_ascii=True)

    def _regex(self, *, ascii_only: bool) -> "re.Pattern[str]":
        return re.compile(_spell(_tree(literal for _, literal, _ in self._entries if literal.isascii() or not ascii_only)))

    def _index(self, regex: "re.Pattern[str]", *, is_ascii: bool) -> None:
        for order, literal, entry in self._entries:
            if literal.isascii() is is_ascii:
                head = regex.match(literal)
                self._by_head.setdefault(head[0] if head else literal, []).append((order, literal, entry))

    @cached_property
    def _any(self) -> "re.Pattern[str]":
        """With the literals of other alphabets: every letter that one may begin with costs time, and few logs hold them."""
        regex = self._regex(ascii_only=False)
        self._index(regex, is_ascii=False)
        return regex

    def _for(self, text: str) -> "re.Pattern[str]":
        return self._ascii if text.isascii() or not _OTHER_LETTER.search(text) else self._any

    def in_line(self, line: str) -> bool:
        """Whether the line holds a literal."""
        return self._for(line).search(line) is not None

    def first(self, masked: list[str], often: frozenset[str] = frozenset()) -> Iterator[tuple[int, str]]:
        """The number of each line that holds a literal, and the first one; digits are masked in both.

        Args:
            masked: the lines.
            often: literals that are not searched for, nor those that begin with them.
        """
        whole = "\n".join(masked)
        groups: list[tuple[Sequence[int], str]] = [(range(len(masked)), whole)]
        if not whole.isascii():
            kinds = [
                [number for number, line in enumerate(masked) if line.isascii() is ascii_only] for ascii_only in (True, False)
            ]
            groups = [(some, "\n".join([masked[number] for number in some])) for some in kinds]
        for numbers, text in groups:
            regex = self._masked(text.isascii() or not _OTHER_LETTER.search(text), often)
            if regex is not None:
                yield from _first(regex, text, numbers)

    def _masked(self, ascii_only: bool, often: frozenset[str]) -> "re.Pattern[str] | None":
        """A pattern for the literals without their digits; None where none is left."""
        if (ascii_only, often) not in self._masks:
            if often:  # the pattern for fewer of them is of no more use
                self._masks = {key: mask for key, mask in self._masks.items() if key[1] in (often, frozenset())}
            literals = (literal for _, literal, _ in self._entries if literal.isascii() or not ascii_only)
            heads = tuple(often)
            rare = [text for literal in literals if not (text := literal.translate(DIGITS)).startswith(heads)]
            self._masks[ascii_only, often] = re.compile(_spell(_tree(rare))) if rare else None
        return self._masks[ascii_only, often]

    def candidates(self, line: str) -> list[Pattern]:
        """The patterns of which the line holds a literal, in their order."""
        heads, position = set(), 0
        regex = self._for(line)
        while match := regex.search(line, position):
            heads.add(match[0])
            position = match.start() + 1  # literals may overlap
        named = {order: entry for head in heads for order, literal, entry in self._by_head[head] if literal in line}
        return [named[order] for order in sorted(named)]


def _first(regex: "re.Pattern[str]", text: str, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The first match in each line of a text, with the line's number: searched at once, because most lines hold none."""
    row = start = 0
    while match := regex.search(text, start):
        row += text.count("\n", start, match.start())
        yield numbers[row], match[0]
        end = text.find("\n", match.end())
        if end < 0:
            return
        row, start = row + 1, end + 1


def _tree(words: Iterable[str]) -> dict[str, Any]:
    """The words as a tree of their letters; "" marks an end."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return tree


def _spell(tree: dict[str, Any]) -> str:
    """The tree as a pattern: much faster than a list of the words, and it stops at the shortest."""
    if "" in tree:
        return ""
    branches = [re.escape(letter) + _spell(rest) for letter, rest in sorted(tree.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
