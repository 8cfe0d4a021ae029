"""Which lines hold a word that a pattern asks for: one pattern for all of them, over many lines at once."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from gpucheck.logs.reading.patterns import Pattern

_OTHER_LETTER = re.compile("[^\x00-\x7f\xa0-\xbf\u2000-\u2fff]")  # progress bars are drawn with what is left out
DIGITS = str.maketrans("123456789", "0" * 9)  # lines that differ in numbers only are the same then


class Literals:
    """The literals of all patterns, searched for by one regular expression."""

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self._entries = [(order, literal, entry) for order, entry in enumerate(patterns) for literal in entry.literals]
        self._by_head: dict[str, list[tuple[int, str, Pattern]]] = {}  # by the shortest literal that a literal begins with
        self._masks: dict[bool, re.Pattern[str]] = {}
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

    def in_masked(self, masked: str) -> bool | None:
        """Whether a line whose digits are masked holds a literal. None: it holds none; False: that depends on its digits."""
        is_ascii = masked.isascii() or not _OTHER_LETTER.search(masked)
        literals = [match[0] for match in self._masked(is_ascii).finditer(masked)]
        return any("0" not in literal for literal in literals) if literals else None

    def _masked(self, ascii_only: bool) -> "re.Pattern[str]":
        if ascii_only not in self._masks:
            literals = (literal for _, literal, _ in self._entries if literal.isascii() or not ascii_only)
            self._masks[ascii_only] = re.compile(_spell(_tree(literal.translate(DIGITS) for literal in literals)))
        return self._masks[ascii_only]

    def candidates(self, line: str) -> list[Pattern]:
        """The patterns of which the line holds a literal, in their order."""
        heads, position = set(), 0
        regex = self._for(line)
        while match := regex.search(line, position):
            heads.add(match[0])
            position = match.start() + 1  # literals may overlap
        named = {order: entry for head in heads for order, literal, entry in self._by_head[head] if literal in line}
        return [named[order] for order in sorted(named)]


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
