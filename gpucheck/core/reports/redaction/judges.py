"""Decide whether a match of a pattern is a secret."""

import bisect
import re
from collections.abc import Callable, Iterator

from gpucheck.core.reports.redaction.pairs import is_mixed, looks_random
from gpucheck.core.reports.redaction.shapes import COMPARED_BEFORE, SSH, VERSION_BEFORE, VERSIONED
from gpucheck.core.reports.redaction.words import FOLDERS, WORDS

HOST_FIELDS = re.compile(r"(?:^|_)(?:host|hostname|hostnames|node_name|nodename|fqdn|domain)$", re.IGNORECASE)
USER_FIELDS = re.compile(r"(?:^|_)(?:user|username|owner|login)$", re.IGNORECASE)
SERIAL_FIELDS = re.compile(r"(?:^|_)serial(?:_number)?$", re.IGNORECASE)
VERSION_FIELDS = re.compile(r"(?:version|specifier|installed)$")
HOST_VARIABLES = re.compile(r"HOSTNAME|HOSTS?$|NODELIST$|NODENAME$|_ADDR(?:ESS(?:ES)?)?$|ENDPOINTS?$|^TPU_NAME$")
PCI_ADDRESS = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:.*")
PATH = re.compile(r"/[^\s:;,\"'=<>|]{2,4096}")
_LETTERS = re.compile(r"[A-Za-z]{30}")  # a run of that length is not a name
_PLACEHOLDER = re.compile(
    r"[\W_]*|\d{1,4}|[*xX.]{3,}|\$\{?\w+\}?|<[^>]*>|\[[^\]]*\]|%\w+%?|(?:none|null|true|false|yes|no|on|off|not|set|unset|required"
    r"|missing|empty|invalid|expired|wrong|incorrect|denied|authentication|prompt|string|str|bytes|int)[.,:;!)]*",
    re.IGNORECASE,
)
# In an address, the rest is a credential that allows writing.
_HOOK = re.compile(r"hook[^/]{0,80}/(?:[a-z]{1,20}/)*(.{8,})", re.IGNORECASE)
_PUBLIC_ROOTS = frozenset("usr etc dev proc sys lib lib64 bin sbin run snap nix boot system library".split())  # noqa: SIM905


def secret(kind: str, value: str) -> tuple[str, str, int] | None:
    """Return the alias' kind, the secret without quotes, and its offset in the value; None if it is not a secret."""
    bare = value.strip("\"'")
    offset = value.find(bare) if bare else 0
    if kind == "hook":
        hook = _HOOK.search(bare)
        return ("secret", hook[1], hook.start(1)) if hook else None
    if kind in ("mac", "guid", "id"):
        return kind, bare, offset
    if _PLACEHOLDER.fullmatch(bare):
        return None
    if kind == "token" and not has_digit(bare) and not _LETTERS.search(bare):
        return None
    if kind == "random" and not (looks_random(bare, 16) and is_mixed(bare)):
        return None
    if kind == "phrase" and value == bare and not looks_random(bare, 6):
        return None
    return ("value" if kind == "value" else "secret"), bare, offset


def has_digit(text: str) -> bool:
    """Whether a text contains a digit."""
    return any(letter.isdigit() for letter in text)


def is_machine(name: str) -> bool:
    """Whether a name after a common word ("host", "node") is a host name: it has a number, a hyphen or a domain."""
    if "_" in name or name.lower() in WORDS or re.search(r"\.\d+$", name):  # "tensorboard-2.16" is a program
        return False
    return bool(re.search(r"\d|[a-z0-9][.-][a-z0-9]", name, re.IGNORECASE))


def is_versioned(match: "re.Match[str]") -> bool:
    """Whether an "@" precedes a version: "memcpy@GLIBC_2.14", "image@sha256:", "user@1000.service"."""
    return bool(VERSIONED.fullmatch(match["place"])) or match["name"].endswith(("=", "."))


def is_login(match: "re.Match[str]") -> bool:
    """Whether "name@place" is a login: after ssh, or in a shell prompt."""
    if is_versioned(match):
        return False
    return bool(match["behind"]) or bool(SSH.search(match.string, max(match.start() - 100, 0), match.start()))


def is_separate_word(text: str, start: int, end: int) -> bool:
    """Whether a matched folder is not part of another name."""
    before = text[max(start - 2, 0) : start]
    behind = text[end : end + 2]
    alone = not re.search(r"[\w.~-]$", before) or before in ("-I", "-L", "-R")
    return alone and not re.match(r"[\w-]|\.\w", behind)


def addresses(
    text: str, start: int, end: int, versions: set[str], alias: Callable[[str, str], str]
) -> Iterator[tuple[int, int, str]]:
    """Yield a span for a match of an IP address, if it is a host's."""
    import ipaddress

    value = text[start:end]
    if value.endswith(":") and not value.endswith("::"):
        value = value[:-1]
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return
    if address.is_loopback or address.is_unspecified or address.is_multicast or value in versions or int(address) == 0xFFFFFFFF:
        return
    before = text[max(start - 16, 0) : start]
    if address.version == 4 and (VERSION_BEFORE.search(before) or (COMPARED_BEFORE.search(before) and not address.is_private)):
        return
    if address.version == 6 and not has_digit(value):
        return
    yield start, start + len(value), alias("ip", str(address))


def own_folders(path: str) -> Iterator[str]:
    """Yield folders of a path with user-defined names: of a project or a team."""
    parts = path.split("/")
    if len(parts) < 3 or parts[0] not in ("", "~", "."):
        return
    if parts[1].lower() in _PUBLIC_ROOTS and parts[1:3] != ["usr", "local"]:
        return
    for part in parts[1:-1] if re.search(r"\.so|\.\w{1,4}$", parts[-1]) else parts[1:]:
        if part in ("site-packages", "dist-packages", "bin", "nvvm"):  # their content has package names
            return
        words = re.findall(r"[A-Za-z]+", part.lower())
        if any(word not in FOLDERS and len(word) > 1 for word in words):
            yield part


class Uuids:
    """The UUIDs of a report. CUDA accepts any prefix that identifies a single GPU."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._sorted: list[str] = []

    _UUID = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)

    def learn(self, text: str, start: int, end: int) -> None:
        """Learn the complete UUIDs of a text."""
        self._known.update(match[0].lower() for match in self._UUID.finditer(text, start, end + 40))

    def alias(self, value: str, alias: Callable[[str, str], str]) -> str:
        """Return "GPU-uuid-1" for a UUID or a prefix of it."""
        if len(self._sorted) != len(self._known):
            self._sorted = sorted(self._known)
        kind, digits = (value[:4].upper(), value[4:]) if value[:4].upper() in ("GPU-", "MIG-") else ("", value)
        digits = digits.lower()
        place = bisect.bisect_left(self._sorted, digits)
        whole = self._sorted[place] if place < len(self._sorted) and self._sorted[place].startswith(digits) else digits
        return kind + alias("uuid", whole)
