"""Find learned names everywhere in a report, with one look-up per word for any number of names."""

import re
from collections.abc import Iterator

_WORD = re.compile(r"[^\W_]+")
_DOMAIN = re.compile(r"(?:\.[A-Za-z0-9-]{1,63}){1,10}")
_LIST = re.compile(r"(?<![\w.-])([A-Za-z][\w-]{0,62})(?=\[\d)")
_DIGITS = re.compile(r"\d+")
_MOST_WORDS = 8  # in a name


class Names:
    """Hosts, users and serial numbers."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}  # kind by name in lower case; "#" matches any number
        self._first: set[str] = set()  # the first word of every name
        self._words = 1  # of the longest name

    def add(self, kind: str, name: str) -> None:
        """Learn a name; "#" in it matches any number."""
        name = name.lower()
        words = _WORD.findall(name.replace("#", "0"))
        if words and len(words) <= _MOST_WORDS and name not in self._kinds:
            self._kinds[name] = kind
            self._first.add(_DIGITS.sub("#", words[0]) if "#" in name else words[0])
            self._words = max(self._words, len(words))

    def kind(self, name: str) -> str | None:
        """Return the kind of a name; None if it was not learned."""
        name = name.lower()
        return self._kinds.get(name) or self._kinds.get(_DIGITS.sub("#", name))

    def __contains__(self, name: str) -> bool:
        return self.kind(name) is not None

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[str, int, int, str]]:
        """Yield the names in a text: kind, start, end (with a host's domain), and the name in lower case."""
        if not self._kinds:
            return
        for match in _LIST.finditer(text, start, end):  # "node-[01-12]"
            if self.kind(f"{match[1]}0") or self.kind(match[1].rstrip("-")):
                yield "host", match.start(), match.end(), match[1].lower()
        words = list(_WORD.finditer(text, start, end))
        for index, word in enumerate(words):
            first = word[0].lower()
            if first in self._first or _DIGITS.sub("#", first) in self._first:
                yield from self._longest(text, words[index : index + self._words])

    def _longest(self, text: str, words: list["re.Match[str]"]) -> Iterator[tuple[str, int, int, str]]:
        start = words[0].start()
        for last in reversed(words):
            name = text[start : last.end()].lower()
            if kind := self.kind(name):
                end = last.end()
                if kind == "host" and (text[start - 1 : start] == "-" or text[end : end + 1] == "-"):
                    continue
                if kind == "host" and (domain := _DOMAIN.match(text, end)):
                    end = domain.end()
                yield kind, start, end, name
                return


def listed(value: str) -> Iterator[str]:
    """Yield the names in a list, also in Slurm's syntax: "node[01-03,07],gpu1:2222" -> "node#", "gpu1"."""
    for item in re.findall(r"(?:[^,;\s\[\]]|\[[^\]\[]{0,65536}\])+", value):
        yield re.sub(r"^\w{1,20}://", "", re.sub(r"\[[^\]]*\]", "#", item))
