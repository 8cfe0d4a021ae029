"""What is secret in one report, and the alias that stands for it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator

from gpucheck.model import Report
from gpucheck.probes.environment import KNOWN, Environment
from gpucheck.probes.limits import Limits
from gpucheck.redact.hosts import in_text, known, spoken
from gpucheck.redact.patterns import (
    ASSIGNMENT,
    BEARER,
    COMMON,
    COOKIE,
    EMAIL,
    GUID,
    HOMES,
    HOST_FIELDS,
    HOST_IN_TEXT,
    HOST_VARIABLES,
    IN_URL,
    IPV4,
    IPV6,
    KEY_BLOCK,
    KEYED,
    LOGIN,
    LONG_HEX,
    MAC,
    NAME,
    SERIAL_FIELDS,
    SERIAL_IN_TEXT,
    SHORT_UUID,
    TOKENS,
    USER_FIELDS,
    USER_IN_TEXT,
    UUID,
    VERSION_BEFORE,
    VERSION_FIELDS,
)
from gpucheck.redact.walk import strings


class Aliases:
    """What is secret here, and the name that stands for it."""

    def __init__(self) -> None:
        self._known = KNOWN
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._homes: dict[str, str] = {}
        self._hosts: set[str] = set()
        self._users: set[str] = set()
        self._serials: set[str] = set()
        self._versions: set[str] = set()
        self._uuids: list[str] = []
        self._passes: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = []

    def learn(self, report: Report, hosts: Iterable[str], users: Iterable[str]) -> None:
        """What the report, and who asks for it redacted, tell about the machine and its user; before any ``text``."""
        for name in hosts:
            self._host(name, least=2)
        for name in users:
            self._user(name, least=2)
        limits, environment = report.fact(Limits), report.fact(Environment)
        home = ((limits and limits.home) or "").rstrip("/\\")
        if len(home) > 1:
            self._homes[home] = "~"
            self._user(re.split(r"[/\\]", home)[-1])
        for key, value in strings(report):
            self._learn(key, value)
        for name, value in (environment.variables if environment else {}).items():
            if HOST_VARIABLES.search(name):
                for host in _expand(value):
                    self._host(host)
            if name == "TF_CONFIG":
                self._tf_config(value)
        self._prepare()

    def text(self, key: str, text: str) -> str:
        """One string of the report, redacted; ``key`` is the field or variable that holds it."""
        if key.startswith("$") and key[1:] not in self._known:
            return self._alias("value", text)
        if VERSION_FIELDS.search(key) and re.fullmatch(r"[\d.,<>=!~* ]*", text):
            return text
        for pattern, substitute in self._passes:
            if key != "command" or pattern is not ASSIGNMENT:  # a command names variables on purpose
                text = pattern.sub(substitute, text)
        return text

    def _learn(self, key: str, value: str) -> None:
        self._learn_from_name(key, value)
        for match in HOMES.finditer(value):
            self._user(match[1])
            self._homes.setdefault(match[0], "")
        for pattern in HOST_IN_TEXT:
            for match in pattern.finditer(value):
                self._host(match[1])
        for pattern in USER_IN_TEXT:
            for match in pattern.finditer(value):
                self._user(match[1])
        self._hosts.update(host for name in in_text(value) if (host := spoken(name)) is not None)
        self._serials.update(match[1] for match in SERIAL_IN_TEXT.finditer(value) if re.search(r"\d", match[1]))
        self._uuids += [match[2].lower() for match in UUID.finditer(value)]

    def _learn_from_name(self, key: str, value: str) -> None:
        """What a field holds by its name."""
        if VERSION_FIELDS.search(key):
            self._versions.update(IPV4.findall(value))
        elif HOST_FIELDS.search(key):
            self._host(value)
        elif key == "address" and not re.fullmatch(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:.*", value):
            self._host(value)  # not a PCI address
        elif USER_FIELDS.search(key):
            self._user(value)
        elif SERIAL_FIELDS.search(key) and len(value) > 3:
            self._serials.add(value)

    def _host(self, name: str, least: int = 3) -> None:
        name = re.sub(r":\d+$", "", name.strip().rstrip("."))
        if not re.fullmatch(NAME, name) or re.fullmatch(r"[\d.]+", name):
            return
        first = name.partition(".")[0].lower()
        if "." not in name and len(first) >= least and first not in COMMON:
            self._hosts.add(first)
        elif "." in name and (found := known(name)) is not None:
            self._hosts.add(found)

    def _user(self, name: str, least: int = 3) -> None:
        if re.fullmatch(r"\w[\w.@$ -]{1,63}", name) and len(name) >= least and name.lower() not in COMMON and not name.isdigit():
            self._users.add(name)

    def _tf_config(self, text: str) -> None:
        try:
            cluster = json.loads(text).get("cluster", {})
            addresses = [address for tasks in cluster.values() for address in tasks]
        except (ValueError, AttributeError, TypeError):
            addresses = re.findall(rf"[\"']({NAME}):\d+[\"']", text)
        for address in addresses:
            self._host(str(address))

    def _prepare(self) -> None:
        passes = [
            (KEY_BLOCK, lambda match: self._alias("secret", match[0])),
            (COOKIE, lambda match: match[1] + self._secret(match[2])),
            (KEYED, lambda match: match[1] + self._secret(match[2])),
            (BEARER, lambda match: match[1] + self._alias("secret", match[2])),
            (IN_URL, lambda match: match[1] + self._alias("secret", match[2])),
            (LOGIN, lambda match: self._alias("secret", match[1])),
            (TOKENS, lambda match: self._alias("secret", match[0])),
            (ASSIGNMENT, self._assignment),
            (UUID, self._uuid),
            (SHORT_UUID, self._uuid),
            (LONG_HEX, lambda match: self._alias("id", match[0].lower())),
            (MAC, lambda match: self._alias("mac", match[0].lower().replace("-", ":"))),
            (GUID, lambda match: self._alias("guid", match[0].lower())),
            (IPV6, self._ip),
            (IPV4, self._ip),
        ]
        if self._serials:
            passes.append((_words(self._serials, 0), lambda match: self._alias("serial", match[0])))
        if self._homes:
            ordered = sorted(self._homes, key=len, reverse=True)
            homes = re.compile(rf"(?:(?<![\w.~-])|(?<=-[ILR]))(?:{'|'.join(map(re.escape, ordered))})(?![\w-]|\.\w)")
            passes.append((homes, self._home))
        if self._hosts:
            names = "|".join(map(re.escape, sorted(self._hosts, key=len, reverse=True)))
            hosts = re.compile(rf"(?<![A-Za-z0-9-])({names})(?:\.[A-Za-z0-9-]+)*(?![A-Za-z0-9-])", re.IGNORECASE)
            passes.append((hosts, lambda match: self._alias("host", match[1].lower())))
        if self._users:
            passes.append((_words(self._users, re.IGNORECASE), lambda match: self._alias("user", match[0].lower())))
        passes.append((EMAIL, lambda match: self._alias("email", match[0].lower())))  # last: a login on a known host is none
        self._passes = passes

    def _alias(self, kind: str, secret: str) -> str:
        if (kind, secret) not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[kind, secret] = f"{kind}-{self._counts[kind]}"
        return self._names[kind, secret]

    def _secret(self, value: str) -> str:
        bare = value.strip("\"'")
        return value if re.fullmatch(r"secret-\d+", bare) else self._alias("secret", bare)

    def _assignment(self, match: re.Match[str]) -> str:
        value = match[2].strip("\"'")
        if match[1] in self._known or re.fullmatch(r"(?:secret|value)-\d+|[\d.]{1,4}|", value):
            return match[0]
        return f"{match[1]}={self._alias('value', value)}"

    def _uuid(self, match: re.Match[str]) -> str:
        digits = match[2].lower()
        whole = next((uuid for uuid in self._uuids if uuid.startswith(digits)), digits)  # CUDA takes any prefix of a UUID
        return (f"{match[1].upper()}-" if match[1] else "") + self._alias("uuid", whole)

    def _ip(self, match: re.Match[str]) -> str:
        import ipaddress

        text = match[0]
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return text
        if address.is_loopback or address.is_unspecified or address.is_multicast or text in self._versions:
            return text
        before = match.string[max(match.start() - 12, 0) : match.start()]
        return text if address.version == 4 and VERSION_BEFORE.search(before) else self._alias("ip", str(address))

    def _home(self, match: re.Match[str]) -> str:
        name = re.split(r"[/\\]", match[0])[-1].lower()
        return self._homes[match[0]] or "~" + self._alias("user", name)


def _words(names: Iterable[str], flags: int) -> re.Pattern[str]:
    ordered = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, ordered))})(?![A-Za-z0-9])", flags)


def _expand(value: str) -> Iterator[str]:
    """Names in a list, Slurm's too: "node[01-03,07],gpu1:2222" -> node01, node02, node03, node07, gpu1."""
    for item in re.findall(r"(?:[^,;\s\[]|\[[^\]]*\])+", value):
        prefix, bracket, rest = item.partition("[")
        if not bracket:
            yield re.sub(r"^\w+://", "", item)
            continue
        ranges, _, suffix = rest.partition("]")
        for part in ranges.split(","):
            first, _, last = part.partition("-")
            if first.isdigit() and (last or first).isdigit():
                for number in range(int(first), min(int(last or first), int(first) + 4096) + 1):
                    yield f"{prefix}{number:0{len(first)}}{suffix}"
        yield prefix.rstrip("-")
