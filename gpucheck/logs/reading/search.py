"""Which lines hold a word that a signature asks for: one pattern for all of them, over many lines at once."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from gpucheck.logs.reading.signatures import Signature

_OTHER_LETTER = re.compile("[^\x00-\x7f\xa0-\xbf\u2000-\u2fff]")  # progress bars are drawn with what is left out


class Words:
    """Every word that a signature asks for, as one pattern."""

    def __init__(self, known: tuple[Signature, ...]) -> None:
        self._entries = tuple(enumerate(known))
        self._plain = self._pattern(plain=True)
        self._known: dict[str, list[tuple[int, Signature]]] = {}  # by the shortest word that its word begins with
        self._index(self._plain, plain=True)

    def _pattern(self, *, plain: bool) -> "re.Pattern[str]":
        return re.compile(_spell(_tree(entry.must for _, entry in self._entries if entry.must.isascii() or not plain)))

    def _index(self, pattern: "re.Pattern[str]", *, plain: bool) -> None:
        for order, signature in self._entries:
            if signature.must.isascii() is plain:
                found = pattern.match(signature.must)
                self._known.setdefault(found[0] if found else signature.must, []).append((order, signature))

    @cached_property
    def _foreign(self) -> "re.Pattern[str]":
        """With the words of other alphabets: every letter that a word may begin with costs time, and few logs hold such words."""
        pattern = self._pattern(plain=False)
        self._index(pattern, plain=False)
        return pattern

    def _for(self, text: str) -> "re.Pattern[str]":
        return self._plain if text.isascii() or not _OTHER_LETTER.search(text) else self._foreign

    def hits(self, lowered: str) -> Iterator[tuple[int, str]]:
        """Index and text of every line that holds a word."""
        pattern = self._for(lowered)
        index = position = 0
        while found := pattern.search(lowered, position):
            index += lowered.count("\n", position, found.start())
            start = lowered.rfind("\n", 0, found.start()) + 1
            end = lowered.find("\n", found.end())
            if end < 0:
                yield index, lowered[start:]
                return
            yield index, lowered[start:end]
            index, position = index + 1, end + 1

    def candidates(self, line: str) -> list[Signature]:
        """The signatures whose word the line holds, in their order."""
        heads, position = set(), 0
        pattern = self._for(line)
        while found := pattern.search(line, position):
            heads.add(found[0])
            position = found.start() + 1  # words may overlap
        ordered = sorted((entry for head in heads for entry in self._known[head]), key=lambda entry: entry[0])
        return [signature for _, signature in ordered if signature.must in line]


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
