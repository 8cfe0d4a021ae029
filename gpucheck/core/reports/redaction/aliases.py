"""The secrets of one report and their aliases."""

import json
import re
from collections.abc import Callable, Iterable, Iterator

from gpucheck.core.model import Report
from gpucheck.core.probes.environment import KNOWN, Environment
from gpucheck.core.probes.limits import Limits
from gpucheck.core.probes.system import System
from gpucheck.core.reports.redaction import judges
from gpucheck.core.reports.redaction.names import Names, host_in, identifying_part, in_text, listed
from gpucheck.core.reports.redaction.pairs import FOLDER_VARIABLES, pairs
from gpucheck.core.reports.redaction.shapes import ANNOUNCED, AT, FOLDER, HOMES, NAME, SHAPES, Shape
from gpucheck.core.reports.redaction.walk import strings
from gpucheck.core.reports.redaction.words import COMMON, WORDS

_WINDOW = 1 << 16  # characters searched between two checks of the time
_OVERLAP = 1 << 13  # characters after them, so that a secret at the boundary is complete
_NOT_REDACTED = "(omitted: not enough time to redact it)"

_ESCAPED_END = re.compile(r"\\{1,4}[nrt]")

Span = tuple[int, int, str]  # start, end, alias


class NoTime(Exception):
    """The time for redaction has run out."""


class Aliases:
    """The secrets of one report, with an alias for each."""

    def __init__(self, has_time: Callable[[], bool]) -> None:
        self._has_time = has_time
        self._aliases: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._home = ""
        self._names = Names()
        self._folders: set[str] = set()
        self._versions: set[str] = set()
        self._uuids = judges.Uuids()
        self._complete = True

    def learn(self, report: Report, hosts: Iterable[str], users: Iterable[str]) -> None:
        """Learn the names of the machine and its user from the report and the caller. Call it before ``text``."""
        for name in hosts:
            self._learn_host(name, least=2)
        for name in users:
            self._learn_user(name, least=2)
        system = report.fact(System)
        if system is not None and system.node:
            self._learn_host(system.node, least=2)
        limits, environment = report.fact(Limits), report.fact(Environment)
        home = ((limits and limits.home) or "").rstrip("/\\")
        if len(home) > 1:
            self._home = home
            self._learn_user(re.split(r"[/\\]", home)[-1])
        try:
            for name, value in (environment.variables if environment else {}).items():
                self._learn_variable(name, value)
            self._learn_texts(report)
        except NoTime:
            self._complete = False

    def learn_nodes(self, nodes: Iterable[str], value: object) -> None:
        """Learn the names of nodes, and what the texts of any structure contain. Call it before ``text``."""
        for name in nodes:
            self._learn_host(name, least=2)
        self._learn_texts(value)

    def _learn_texts(self, value: object) -> None:
        for key, text in strings(value):
            self._learn_field(key, text)
            for searched in _unescaped(text):
                for start, end in self._windows(searched):
                    self._learn_text(searched, start, end)

    def text(self, key: str, text: str) -> str:
        """Return one string of the report, redacted; ``key`` is the field or variable that contains it."""
        if key.startswith("$") and key[1:] not in KNOWN:
            return self.alias("value", text)
        if judges.VERSION_FIELDS.search(key) and re.fullmatch(r"[\d.,<>=!~* ]*", text):
            return text
        if not self._complete:
            return _NOT_REDACTED
        spans: list[Span] = []
        try:
            for searched in _unescaped(text):
                for start, end in self._windows(searched):
                    spans += self._spans(key, searched, start, end)
        except NoTime:
            return _NOT_REDACTED
        return _replaced(text, spans) if spans else text

    def alias(self, kind: str, secret: str) -> str:
        """Return the alias of a secret, always the same."""
        if (kind, secret) not in self._aliases:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._aliases[kind, secret] = f"{kind}-{self._counts[kind]}"
        return self._aliases[kind, secret]

    def _windows(self, text: str) -> Iterator[tuple[int, int]]:
        for start in range(0, len(text), _WINDOW):
            if not self._has_time():
                raise NoTime
            yield start, start + _WINDOW

    def _learn_variable(self, name: str, value: str) -> None:
        if judges.HOST_VARIABLES.search(name):
            for host in listed(value):
                self._learn_host(host)
        if name == "TF_CONFIG":
            for address in _addresses(value):
                self._learn_host(address)
        if FOLDER_VARIABLES.search(name):
            self._learn_folders(value)

    def _learn_field(self, key: str, value: str) -> None:
        """Learn the value of a field whose name identifies its kind."""
        if judges.VERSION_FIELDS.search(key):
            self._versions.update(re.findall(r"(?:\d{1,3}\.){3}\d{1,3}", value[:1000]))
        elif judges.HOST_FIELDS.search(key) or (key == "address" and not judges.PCI_ADDRESS.fullmatch(value)):
            self._learn_host(value)
        elif judges.USER_FIELDS.search(key):
            self._learn_user(value)
        elif judges.SERIAL_FIELDS.search(key) and len(value) > 3:
            self._names.add("serial", value)
        elif judges.PATH.fullmatch(value):
            self._learn_folders(value.rpartition("/")[0])

    def _learn_text(self, text: str, start: int, end: int) -> None:
        for kind, begin, stop in _matches(ANNOUNCED, text, start, end):
            self._learn_name(kind, text[begin:stop])
        for match in HOMES.finditer(text, start, end):
            self._learn_user(match[1])
            if path := judges.PATH.match(text, match.end()):
                self._learn_folders(path[0])
        for match in AT.finditer(text, start, end):
            if judges.is_login(match):
                self._learn_user(match["name"])
                self._learn_host(match["place"])
        for name in in_text(text[start : end + _OVERLAP]):
            if (host := host_in(name)) is not None:
                self._names.add("host", host)
        self._uuids.learn(text, start, end)

    def _learn_name(self, kind: str, name: str) -> None:
        if kind == "user":
            self._learn_user(name)
        elif kind == "folders":
            self._learn_folders(name)
        elif kind == "host" or (kind == "machine" and judges.is_machine(name)):
            self._learn_host(name)
        elif kind == "serial" and judges.has_digit(name):
            self._names.add("serial", name)

    def _learn_host(self, name: str, least: int = 3) -> None:
        name = re.sub(r":\d+$", "", name.strip()).rstrip(".")
        if "#" in name:
            if len(name) >= least:
                self._names.add("host", name)
            return
        if not re.fullmatch(NAME, name) or re.fullmatch(r"[\d.]+", name):
            return
        first = name.partition(".")[0].lower()
        if "." not in name and len(first) >= least and first not in WORDS:
            self._names.add("host", first)
        elif "." in name and (host := identifying_part(name)) is not None:
            self._names.add("host", host)

    def _learn_user(self, name: str, least: int = 3) -> None:
        name = name.rstrip(".")
        if re.fullmatch(r"\w[\w.@$ -]{1,63}", name) and len(name) >= least and name.lower() not in WORDS and not name.isdigit():
            self._names.add("user", name)

    def _learn_folders(self, paths: str) -> None:
        for path in paths.split(":"):
            self._folders.update(judges.own_folders(path))

    def _spans(self, key: str, text: str, start: int, end: int) -> Iterator[Span]:
        """Yield the spans to redact in one window of a text."""
        for kind, begin, stop in _matches((*ANNOUNCED, *SHAPES), text, start, end):
            if kind != "value" or key != "command":  # a command shows variables on purpose
                yield from self._hidden(kind, text, begin, stop)
        for match in AT.finditer(text, start, end):
            yield from self._at(match)
        yield from self._homes(text, start, end)
        for kind, begin, stop, name in self._names.find(text, start, end):
            yield begin, stop, self.alias(kind, name)
        if self._folders:
            for match in FOLDER.finditer(text, start, end):
                if match[0] in self._folders:
                    yield match.start(), match.end(), self.alias("folder", match[0])

    def _hidden(self, kind: str, text: str, start: int, end: int) -> Iterator[Span]:
        """Yield a span for a match of a pattern, if it is a secret."""
        value = text[start:end]
        if kind in ("host", "machine"):
            host = self._host(value.lower().rstrip("."), kind)
            if host is not None:
                yield start, end, self.alias("host", host)
        elif kind == "user":
            if value.lower() not in WORDS and not value.isdigit():
                yield start, end, self.alias("user", value.lower())
        elif kind == "serial":
            if judges.has_digit(value):
                yield start, end, self.alias("serial", value.lower())
        elif kind == "uuid":
            yield start, end, self._uuids.alias(value, self.alias)
        elif kind == "ip":
            yield from judges.addresses(text, start, end, self._versions, self.alias)
        elif kind != "folders" and (found := judges.secret(kind, value)) is not None:
            alias_kind, whole, offset = found
            yield start + offset, start + offset + len(whole), self.alias(alias_kind, whole)

    def _host(self, name: str, kind: str) -> str | None:
        """Return the alias of a host name, with or without a domain; None if it is not a known host."""
        first, dot, _ = name.partition(".")
        if first in self._names:
            return first
        if first.isdigit() or first in WORDS or (kind == "machine" and not judges.is_machine(name)):
            return None
        return identifying_part(name) if dot or len(first) > 2 else first

    def _at(self, match: "re.Match[str]") -> Iterator[Span]:
        """Yield spans for both sides of "name@address"."""
        if judges.is_versioned(match):
            return
        name, place = match["name"].lower(), match["place"].lower()
        if re.fullmatch(r"[\d.]+", place):
            yield match.start("name"), match.end("name"), self.alias("user", name)
            return
        is_host = identifying_part(place) is None or any(True for _ in self._names.find(place, 0, len(place)))
        if "." in place and not is_host:
            yield match.start(), match.end("place"), self.alias("email", match[0].lower())
            return
        if name not in COMMON:
            yield match.start("name"), match.end("name"), self.alias("user", name)
        if identifying_part(place) is not None and place not in WORDS:
            first = place.partition(".")[0]
            yield match.start("place"), match.end("place"), self.alias("host", first if first in self._names else place)

    def _homes(self, text: str, start: int, end: int) -> Iterator[Span]:
        for match in HOMES.finditer(text, start, end):
            home = match[0]
            yield match.start(), match.end(), "~" if home == self._home else "~" + self.alias("user", match[1].lower())
        if self._home and not HOMES.fullmatch(self._home):
            position = text.find(self._home, start)
            while start <= position < end:
                behind = position + len(self._home)
                if judges.is_separate_word(text, position, behind):
                    yield position, behind, "~"
                position = text.find(self._home, behind)


def _unescaped(text: str) -> Iterator[str]:
    """Yield the text; if it has escaped line ends, as in JSON, also a copy of the same length with spaces instead."""
    yield text
    if "\\" in text and (searched := _ESCAPED_END.sub(lambda end: " " * len(end[0]), text)) != text:
        yield searched


def _matches(shapes: tuple[Shape, ...], text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield every group of every pattern's matches, then the values of pairs: kind, start, end."""
    lowered = text[start : end + _OVERLAP].lower()
    for literals, regex in shapes:
        if literals and not any(literal in lowered for literal in literals):
            continue
        for match in regex.finditer(text, start, end + _OVERLAP):
            if match.start() >= end:
                break
            for group, value in match.groupdict().items():
                if value:
                    yield group.rstrip("2"), match.start(group), match.end(group)
    yield from pairs(text, start, end + _OVERLAP)


def _replaced(text: str, spans: list[Span]) -> str:
    """Return the text with its spans replaced; if two overlap, the longer one wins, and the rest of the other is removed."""
    parts, position = [], 0
    for start, end, alias in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= position:
            parts += [text[position:start], alias]
        position = max(position, end)
    return "".join((*parts, text[position:]))


def _addresses(text: str) -> list[str]:
    """Return the addresses in a TF_CONFIG, even if it is not valid JSON."""
    try:
        cluster = json.loads(text).get("cluster", {})
        return [str(address) for tasks in cluster.values() for address in tasks]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return re.findall(rf"[\"']({NAME}):\d+[\"']", text)
