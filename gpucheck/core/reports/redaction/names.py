"""Names of machines and users: learned ones are found everywhere, and host names are detected in free text.

A name without a keyword before it is treated as a host if it has a suffix of private networks (ICANN's ``internal``, RFC 6762's
``local``, RFC 8375's ``home.arpa`` and common older ones), a port, a share or an exported folder.
Similar text is excluded: modules, files, versions, public sites.
"""

import re
import sys
from collections.abc import Iterator

from gpucheck.core.reports.redaction.shapes import NAME
from gpucheck.core.reports.redaction.words import COMMON

_WORD = re.compile(r"[^\W_]+")
_DOMAIN = re.compile(r"(?:\.[A-Za-z0-9-]{1,63}){1,10}")
_LIST = re.compile(r"(?<![\w.-])([A-Za-z][\w-]{0,62})(?=\[\d)")
_DIGITS = re.compile(r"\d+")
_MOST_WORDS = 8  # in a name

_PRIVATE = "internal local lan intranet corp localdomain private home arpa"
_TOP = "com net org edu gov mil int io ai dev cloud info biz app tech science eu"
_FILES = "py cc cu so go rs js ts sh md hs pl rb in gz bz xz tf db id"
_MODULES = """
absl asyncio datasets flax gevent google grpc h5py jax jaxlib keras keras_core keras_hub keras_nlp lightning ml_dtypes
multiprocess numpy nvidia onnx optax orbax pandas pip protobuf pytorch ray scipy sklearn std tensorboard tensorflow tf
threading torch torchvision transformers triton werkzeug xla external tools args cfg cls conf config env git npm options
package rc self settings site this
"""
PRIVATE = frozenset(_PRIVATE.split())
TOP = frozenset(_TOP.split()) | PRIVATE  # "a.example.com:2222" is an address, "model.fit:2222" is not
NO_COUNTRIES = frozenset(_FILES.split())  # file extensions, not country codes
MODULES = frozenset(_MODULES.split()) | getattr(sys, "stdlib_module_names", frozenset())  # and names before ".local" in programs
PUBLIC = re.compile(
    r"(?:[\w-]+\.)?(?:tensorflow\.org|keras\.io|nvidia\.com|github\.com|githubusercontent\.com|pypi\.org|python\.org|pytorch\.org"
    r"|pythonhosted\.org|google\.com|googleapis\.com|anaconda\.(?:org|com)|docker\.(?:com|io)|nvcr\.io|gcr\.io|ghcr\.io|quay\.io"
    r"|huggingface\.co|kaggle\.com|stackoverflow\.com|microsoft\.com|kernel\.org|kubernetes\.io|readthedocs\.io|jax\.dev)"
    r"|metadata\.google\.internal|host\.docker\.internal|kubernetes\.default\.svc(?:\.cluster\.local)?|localhost\.localdomain",
    re.IGNORECASE,
)
# Words with a number that are not hosts: types, layers, models, architectures, interfaces, positions in a text.
NUMBERED = re.compile(
    r"(?:v|b?float|u?int|fp|bf|tf|conv|dense|sm|compute|cuda|cu|cudnn|nccl|py|python|cp|x|amd|arm|aarch|resnet|vgg|bert|gpt|rank"
    r"|step|epoch|batch|layer|block|line|col|cpu|gpu|tpu|xid|eth|ib|mlx|bond|utf|iso|sha|md|ipv|rtx|gtx|mnist|cifar|http|port"
    r"|err|errno|error|code|pid|tid|thread|replica|task|device|lib|host|[a-z])[_-]?\d+[a-z]?",
    re.IGNORECASE,
)
_START = r"(?:(?<![\w./@%$:\\-])|(?<=://)|(?<=@))"
_DOTTED = re.compile(rf"{_START}((?:[A-Za-z0-9_-]+\.)+(?:{'|'.join(PRIVATE)}))(?![\w(-]|\.\w|\s+import\b)", re.IGNORECASE)
_PORT = re.compile(rf"{_START}([A-Za-z](?:[\w.-]*[A-Za-z0-9])?):(\d{{4,5}})(?!:?\w|\.\d)")
_EXPORT = re.compile(rf"{_START}([A-Za-z](?:[\w.-]*[A-Za-z0-9])?):/(?=\w)")
_SHARE = re.compile(rf"(?<![\w:/.\\*-])(?://({NAME})/(?=[\w$])|\\\\(?:\\\\)?({NAME})\\+(?=[\w$]))")


class Names:
    """Hosts, users and serial numbers, with one lookup per word for any number of names."""

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


def in_text(text: str) -> Iterator[str]:
    """Yield names with the shape of a host name, without ports."""
    for match in _DOTTED.finditer(text):
        if match[1].lower() != "home.arpa" and match[1].partition(".")[0].lower() not in MODULES:
            yield match[1]
    for match in _PORT.finditer(text):
        if 1024 <= int(match[2]) <= 65535 and _like_one(match[1], r"\d"):  # "nvidia-smi:18213" is a process
            yield match[1]
    for match in _EXPORT.finditer(text):
        if _like_one(match[1], r"[\d-]"):
            yield match[1]
    for match in _SHARE.finditer(text):
        name = match[1] or match[2]
        if "_" not in name and name.partition(".")[0].lower() not in MODULES:
            yield name


def identifying_part(name: str) -> str | None:
    """Return the text that identifies a host: its first label, or the whole name if that is a word. None: not a host name."""
    name = name.lower()
    first, dot, _ = name.partition(".")
    if PUBLIC.fullmatch(name) or (dot and first in MODULES and not _topped(name)):
        return None
    if first not in COMMON and len(first) > 2 and not (dot and first in MODULES):
        return first
    return name if dot and _topped(name) else None


def host_in(name: str) -> str | None:
    """Return the same for a name detected only by its shape: a label without a number or hyphen may be any word."""
    first, dot, _ = name.lower().partition(".")
    found = identifying_part(name)
    return found if found is None or not dot or re.search(r"[\d-]", first) else name.lower()


def _like_one(name: str, sign: str) -> bool:
    """Whether a name before a port or folder is a host name; ``sign``: regex that a name without a domain must match."""
    first, dot, _ = name.lower().partition(".")
    if "_" in name or first in MODULES or first in COMMON:
        return False
    return _topped(name) if dot else bool(re.search(sign, first)) and not NUMBERED.fullmatch(first)


def _topped(name: str) -> bool:
    last = name.lower().rpartition(".")[2]
    return last in TOP or (len(last) == 2 and last.isalpha() and last not in NO_COUNTRIES)
