"""A report that tells no secrets: hosts, users, homes, UUIDs, serials, addresses, tokens, values of unknown variables.

The same thing gets the same alias wherever it stands, so that a redacted report can still be followed: ``host-1`` in a fact is
``host-1`` in a log line. What is secret is learned from the report itself and from what the caller knows about the machine;
patterns catch the rest. When in doubt, an alias: a report that tells too little is cheaper than one that tells too much.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpucheck.model import Fix, Report

# Names that identify nobody, and words of this field: a user called "keras" is found in paths only.
WORDS = """
root user users admin ubuntu debian centos fedora runner nobody daemon wheel video render host hostname localhost home
docker podman container worker chief ps cuda gpu gpus cpu tpu nvidia keras tensorflow python linux windows darwin macos
test train training model models data local system default node none true false null unknown secret token value serial
uuid email guid mac ip id the and for not passed failed skipped error warning driver kernel library memory device name
jupyter jovyan colab vscode app bin lib usr opt var tmp etc dev proc sys mnt share
info debug trace notice warn fatal critical unable invalid failure please
"""
COMMON = frozenset(WORDS.split())
KEPT = frozenset({"code", "row", "first_check", "explained_by", "strategy", "precision", "status", "fact", "field", "probe"})
HOST_FIELDS = re.compile(r"(?:^|_)(?:host|hostname|hostnames|node_name|nodename|fqdn|domain)$", re.IGNORECASE)
USER_FIELDS = re.compile(r"(?:^|_)(?:user|username|owner|login)$", re.IGNORECASE)
SERIAL_FIELDS = re.compile(r"(?:^|_)serial(?:_number)?$", re.IGNORECASE)
VERSION_FIELDS = re.compile(r"(?:version|specifier|installed)$")
HOST_VARIABLES = re.compile(r"HOSTNAME|HOSTS?$|NODELIST$|NODENAME$|_ADDR(?:ESS(?:ES)?)?$|ENDPOINTS?$|^TPU_NAME$")

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
HOST_IN_TEXT = (
    re.compile(rf"\bhost[ _]?name\s*[:=]\s*[\"']?({NAME})", re.IGNORECASE),
    re.compile(rf"\b(?:host|node|nodename)\s*[:=]\s*[\"']?(?=\S*[\d.-])({NAME})", re.IGNORECASE),
    re.compile(rf"^({NAME}):\d+:\d+ \[\d+\] (?:\[\d+\] )?NCCL ", re.MULTILINE),
    re.compile(rf"(?:grpc|tcp|ssh|nfs)://(?:[^\s/@]*@)?({NAME})"),
    re.compile(
        rf"^(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|\d{{4}}-\d\d-\d\dT\S+) ({NAME}) [\w./-]+(?:\[\d+\])?:", re.MULTILINE
    ),
    re.compile(rf"\b[a-z_][a-z0-9_-]*@({NAME}):", re.IGNORECASE),  # a shell's prompt
    re.compile(r"--(?:namespace|serviceaccount)=([a-z0-9-]+)"),  # kubectl's
)
USER_IN_TEXT = (
    re.compile(r"\b(?:user|user ?name|login|logname|owner|uid)\s*[:=]\s*[\"']?(?:\d+\()?([A-Za-z_][\w.-]*)", re.IGNORECASE),
    re.compile(r"\b([a-z_][a-z0-9_-]*)@[\w-]+:[~/]"),
    re.compile(r"--serviceaccount=[a-z0-9-]+:([a-z0-9.-]+)"),
)
SERIAL_IN_TEXT = re.compile(r"\b(?:serial(?:[ _-]?(?:number|no))?|S/?N)\b\W{0,12}([A-Z0-9][A-Z0-9-]{5,})", re.IGNORECASE)
HOMES = re.compile(
    r"(?:(?<![\w.~-])|(?<=-[ILR]))(?:(?:/var|/usr|/export|/net|/mnt|/data)?/(?:home|homes|Users)/|[A-Za-z]:[\\/]+Users[\\/]+)([^\s/\\:;,\"'<>|]+)",
    re.IGNORECASE,
)
KEYED = re.compile(
    r"((?:[\w-]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|signature)"
    r"|(?:\w*_)?(?:auth|authorization|sas|sig|pwd))[\"']?\s*[=:]\s*(?:bearer |basic |token )?)([\"'][^\"']+[\"']|[^\s\"',;&]+)",
    re.IGNORECASE,
)
BEARER = re.compile(r"(\b(?:bearer|basic)\s+|--?(?:token|password|secret|api[_-]?key)\s+)([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
IN_URL = re.compile(r"(://)([^\s/@:]*:[^\s/@]+)(?=@)")
KEY_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
TOKENS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}"
    r"|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|npm_\w{20,}|pypi-[\w-]{20,}|nvapi-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|ya29\.[\w-]+)"
)
UUID = re.compile(r"(?<![0-9A-Za-z])(?:(GPU|MIG)-)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})", re.IGNORECASE)
SHORT_UUID = re.compile(r"(?<![0-9A-Za-z])(GPU|MIG)-([0-9a-f]{4,}(?:-[0-9a-f]+)*)(?![0-9A-Za-z])", re.IGNORECASE)
LONG_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32,}(?![0-9A-Za-z])", re.IGNORECASE)
MAC = re.compile(r"(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])", re.IGNORECASE)
GUID = re.compile(r"(?<![\w:])(?:[0-9a-f]{4}:){3}[0-9a-f]{4}(?![\w:])", re.IGNORECASE)
IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
IPV6 = re.compile(
    r"(?<![\w:.])(?=[0-9a-f:.]*\d)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:\d{0,3}(?:\.\d{1,3}){3})?(?![\w:])", re.IGNORECASE
)
VERSION_BEFORE = re.compile(r"(?:[=<>~!]=?\s?|\bv|\bversion\s+|-cu\d+\s|\b(?:cudnn|cublas|cuda|nccl|driver)\s)$", re.IGNORECASE)
EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
ASSIGNMENT = re.compile(r"(?<![\w$.-])([A-Z][A-Z0-9_]{2,})=(\"[^\"]*\"|'[^']*'|[^\s;,\"']+)")


def redact(report: Report, *, hosts: Iterable[str] = (), users: Iterable[str] = ()) -> Report:
    """The report with aliases for what identifies a machine, a person or an account.

    Args:
        report: any report, replayed ones too.
        hosts: names of this machine, which only the caller can ask for.
        users: names of its user, likewise.

    Returns:
        A report of the same shape: verdict, codes, numbers and versions are untouched.
    """
    aliases = _Aliases()
    aliases.learn(report, hosts, users)
    return _walk(report, aliases.text)  # type: ignore[no-any-return]


class _Aliases:
    """What is secret here, and the name that stands for it."""

    def __init__(self) -> None:
        from gpucheck.probes.environment import KNOWN

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
        for name in hosts:
            self._host(name, least=2)
        for name in users:
            self._user(name, least=2)
        facts = report.facts
        home = str((facts.get("limits") or {}).get("home") or "").rstrip("/\\")
        if len(home) > 1:
            self._homes[home] = "~"
            self._user(re.split(r"[/\\]", home)[-1])
        for key, value in _strings(report):
            self._learn(key, value)
        for name, value in ((facts.get("environment") or {}).get("variables") or {}).items():
            if HOST_VARIABLES.search(name):
                for host in _expand(str(value)):
                    self._host(host)
            if name == "TF_CONFIG":
                self._tf_config(str(value))
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
        for match in HOMES.finditer(value):
            self._user(match[1])
            self._homes.setdefault(match[0], "")
        for pattern in HOST_IN_TEXT:
            for match in pattern.finditer(value):
                self._host(match[1])
        for pattern in USER_IN_TEXT:
            for match in pattern.finditer(value):
                self._user(match[1])
        self._serials.update(match[1] for match in SERIAL_IN_TEXT.finditer(value) if re.search(r"\d", match[1]))
        self._uuids += [match[2].lower() for match in UUID.finditer(value)]

    def _host(self, name: str, least: int = 3) -> None:
        name = re.sub(r":\d+$", "", name.strip().rstrip("."))
        first = name.partition(".")[0].lower()
        if re.fullmatch(NAME, name) and not re.fullmatch(r"[\d.]+", name) and len(first) >= least and first not in COMMON:
            self._hosts.add(first)

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
            (KEYED, lambda match: match[1] + self._secret(match[2])),
            (BEARER, lambda match: match[1] + self._alias("secret", match[2])),
            (IN_URL, lambda match: match[1] + self._alias("secret", match[2])),
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


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string with the field that holds it."""
    if type(value) is str:
        yield key, value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield "", str(name)
            yield from _strings(entry, str(name))
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _strings(entry, key)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _strings(getattr(value, name), name)


def _walk(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """The same shape with every string changed, but for those of fields whose words are ours."""
    if type(value) is str:
        return change(key, value)
    if isinstance(value, dict):
        variables = key == "variables"
        return {_key(name, change): _walk(entry, change, f"${name}" if variables else str(name)) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_walk(entry, change, key) for entry in value)
    if isinstance(value, Struct):
        fields = [name for name in value.__struct_fields__ if name not in KEPT]
        return replace(value, **{name: _walk(getattr(value, name), change, _named(value, name)) for name in fields})
    return value


def _key(name: Any, change: Callable[[str, str], str]) -> Any:
    """Names of fields stay; a path, an address or a UUID that serves as a key does not."""
    return name if not isinstance(name, str) or re.fullmatch(r"\w+|[\w+-]+\.so[\w.]*", name) else change("", name)


def _named(value: Struct, name: str) -> str:
    if name == "text" and isinstance(value, Fix):
        return "command"
    evidence = getattr(value, "field", "")
    return f"${evidence.partition('.')[2]}" if name == "value" and str(evidence).startswith("variables.") else name
