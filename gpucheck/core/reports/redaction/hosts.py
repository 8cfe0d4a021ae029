"""Names of machines in free text: what is one, and what only looks like one (a module, a file, a version, a public site).

A name that nothing announces counts as a machine's where its shape says so: a suffix of private networks (ICANN's ``internal``,
RFC 6762's ``local``, RFC 8375's ``home.arpa`` and what administrators made up before), a port, a share, an exported folder.
"""

import re
import sys
from collections.abc import Iterator

from gpucheck.core.reports.redaction.shapes import NAME
from gpucheck.core.reports.redaction.words import COMMON

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
TOP = frozenset(_TOP.split()) | PRIVATE  # "a.example.com:2222" is an address, "model.fit:2222" is none
NO_COUNTRIES = frozenset(_FILES.split())  # of two letters too, and at the end of files' names
MODULES = frozenset(_MODULES.split()) | getattr(sys, "stdlib_module_names", frozenset())  # and what programs have before ".local"
PUBLIC = re.compile(
    r"(?:[\w-]+\.)?(?:tensorflow\.org|keras\.io|nvidia\.com|github\.com|githubusercontent\.com|pypi\.org|python\.org|pytorch\.org"
    r"|pythonhosted\.org|google\.com|googleapis\.com|anaconda\.(?:org|com)|docker\.(?:com|io)|nvcr\.io|gcr\.io|ghcr\.io|quay\.io"
    r"|huggingface\.co|kaggle\.com|stackoverflow\.com|microsoft\.com|kernel\.org|kubernetes\.io|readthedocs\.io|jax\.dev)"
    r"|metadata\.google\.internal|host\.docker\.internal|kubernetes\.default\.svc(?:\.cluster\.local)?|localhost\.localdomain",
    re.IGNORECASE,
)
# What has a number behind it and is no machine: types, layers, models, architectures, interfaces, places in a text.
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


def in_text(text: str) -> Iterator[str]:
    """Names that are machines' by their shape, each without its port."""
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


def known(name: str) -> str | None:
    """What to look for to find a machine everywhere: its first label, or all of it where that is a word. None: it is nobody's."""
    name = name.lower()
    first, dot, _ = name.partition(".")
    if PUBLIC.fullmatch(name) or (dot and first in MODULES and not _topped(name)):
        return None
    if first not in COMMON and len(first) > 2 and not (dot and first in MODULES):
        return first
    return name if dot and _topped(name) else None


def host_in(name: str) -> str | None:
    """The same of a name that nothing but its shape announces: without a number or a hyphen its first label may be any word."""
    first, dot, _ = name.lower().partition(".")
    found = known(name)
    return found if found is None or not dot or re.search(r"[\d-]", first) else name.lower()


def _like_one(name: str, sign: str) -> bool:
    """Whether that is a machine's name, if a port or a folder follows it; ``sign``: what one without a domain has."""
    first, dot, _ = name.lower().partition(".")
    if "_" in name or first in MODULES or first in COMMON:
        return False
    return _topped(name) if dot else bool(re.search(sign, first)) and not NUMBERED.fullmatch(first)


def _topped(name: str) -> bool:
    last = name.lower().rpartition(".")[2]
    return last in TOP or (len(last) == 2 and last.isalpha() and last not in NO_COUNTRIES)
