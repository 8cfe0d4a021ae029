"""Find values after a key or option: "db_pass: x", "?key=x", "--token x", "User Id=x", "hostname: x"."""

import re
from collections.abc import Iterator

from gpucheck.core.probes.environment import KNOWN

_PAIR = re.compile(
    # In YAML a value may follow on its own line.
    r"(?<![\w.])(?<!\w-)(?P<name>[A-Za-z_]\w*(?:[.-]\w+)*)(?:\\{0,4}[\"'])?(?P<sign>\s{0,9}(?::(?!//)|=)\s{0,9}(?:[|>][+-]?\s{1,40})?)"
    r"(?P<scheme>\\{0,4}[\"']?(?:bearer|basic|token|digest) )?"
    r"|(?<![\w-])--?(?P<flag>[A-Za-z][\w-]*) +(?![\s-])",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\\{1,4}[\"'](?P<a>[^\"'\n]+?)(?=\\{1,4}[\"'])|\"(?P<b>[^\"]+)\"|'(?P<c>[^']+)'|(?:\\{0,4}[\"'])?(?P<d>[^\s\"',;&]+)"
)
_NAME = re.compile(r"(?:\\{1,4})?[\"']?(?:\d{1,9}\()?([A-Za-z0-9_][\w.-]{0,252})")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDINGS = (
    *("password", "passwd", "passphrase", "secret", "token"),
    *("apikey", "accesskey", "secretkey", "privatekey", "accountkey", "authkey", "key-data"),
)
_WORDS = {
    "secret": "secrets passwort passcode pwd credential credentials authorization auth sas sessionid sessid jsessionid phpsessid",
    "long": "sig signature code session cookie hash nonce salt",  # if they look random
    "user": "user username login logname owner uid userid account",
    "host": "hostname hostnames nodename fqdn nodelist nodelists batchhost domain",
    "machine": "host hosts node nodes server nodeaddr",  # if they look like one
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_SHORT = frozenset({"pass", "pin", "pw"})  # keys of secrets if followed by "=", or after another word
_HARMLESS = """
public primary foreign sort partition registry cache dict missing unexpected unknown invalid host metadata config option feature
map sub json yaml index lookup group unique hot short any no the this that a each wrong duplicate state
by com encom sur tres over under low high band
"""  # words before "key" and "pass"
_HARMLESS_BEFORE = frozenset(_HARMLESS.split())
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,}")
FOLDER_VARIABLES = re.compile(r"PATH$|_DIR(?:ECTORY)?$|_HOME$|_ROOT$|PREFIX$|^VIRTUAL_ENV$|^LD_PRELOAD$")


def pairs(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield the values of pairs in a text: start, end and kind.

    Kinds are those of ``shapes``, "value" of an unknown variable, and "folders" of a variable with paths.
    """
    behind = start
    for match in _PAIR.finditer(text, start, end):
        kind = _kind(match, text) if match.start() >= behind else None
        if kind is None:
            continue
        value = (_NAME if kind in ("user", "host", "machine") else _VALUE).match(text, match.end(), end)
        if value is None:
            continue
        group = value.lastgroup or 1
        if kind == "long" and not (looks_random(value[group], 8) and is_mixed(value[group])):
            continue
        if kind != "folders":
            behind = value.end(group)
        yield ("secret" if kind == "long" else kind), value.start(group), value.end(group)


def _kind(match: re.Match[str], text: str) -> str | None:
    """Return the kind of value after a name; None if it is not redacted."""
    name = match["name"] or match["flag"]
    parts = [part.lower() for part in _PARTS.findall(name[-80:])] or [""]
    if name.lower().endswith(_ENDINGS):
        return "secret"
    if parts[-1].endswith(("key", "pass")) or parts[-1] in _SHORT:
        return "secret" if _is_secret_key(parts, match, text) else None
    if match["scheme"]:
        return "secret"
    if match["flag"] and len(name) == 1:
        return None
    return _KINDS.get("".join(parts[-2:])) or _KINDS.get(parts[-1]) or _kind_of_variable(name, match, text)


def _kind_of_variable(name: str, match: re.Match[str], text: str) -> str | None:
    before = text[max(match.start() - 5, 0) : match.start()]
    if name.lower() == "id" and before.lower() == "user ":  # "User Id=x"
        return "user"
    if match["sign"] != "=" or not _VARIABLE.fullmatch(name) or before.endswith("$"):
        return None
    if name not in KNOWN:
        return "value"
    return "folders" if FOLDER_VARIABLES.search(name) else None


def _is_secret_key(parts: list[str], match: re.Match[str], text: str) -> bool:
    """Whether "key" or "pass" at a name's end means a secret: "db_pass", "AccountKey", "?key", but not "primary_key"."""
    last = parts[-1]
    ending = next((ending for ending in ("key", "pass") if last.endswith(ending)), last)
    before = last.removesuffix(ending) or (parts[-2] if len(parts) > 1 else "")
    if ending == "key":
        glued = last != "key"  # "monkey"
        in_address = text[max(match.start() - 1, 0) : match.start()] in ("?", "&")
        return in_address or (not glued and bool(before) and before not in _HARMLESS_BEFORE)
    return before not in _HARMLESS_BEFORE and (bool(before) or "=" in (match["sign"] or "="))


def is_mixed(text: str) -> bool:
    """Whether the text is neither a word nor a name of several words with a number."""
    return sum(letter.isdigit() for letter in text) >= 3 and bool(re.search(r"[A-Za-z]\d+[A-Za-z]", text))


def looks_random(value: str, least: int) -> bool:
    """Whether letters and digits are mixed as they are in a generated secret."""
    return len(value) >= least and any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)
