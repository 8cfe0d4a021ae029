"""The fields of an event, from the named groups of a match."""

import re
from collections.abc import Callable, Iterable, Mapping

from gpucheck.core.compat import versions
from gpucheck.core.compat.modules import package_of
from gpucheck.core.model.wording import short

Fields = Callable[["re.Match[str]"], "dict[str, str] | None"]

_QUOTES = ("'", '"', "`")
_MARK = re.compile(r"(?P<opens>(?<!\S)['\"`](?=\S)|(?<=[(\[=:,])['\"`](?=\w))|(?<=\S)['\"`](?!\w)")  # except apostrophes
_LONGEST = 240  # characters; a message longer than that is a dump
_FILES = ("soname", "file", "library")  # fields that hold a path
_GROUP = re.compile(r"\{(\w+)\}")


def named(match: "re.Match[str]") -> dict[str, str]:
    """Return the named groups that matched, trimmed; ``name2`` and ``name3`` are alternatives of ``name``."""
    values = ((name, _trimmed(value)) for name, value in match.groupdict().items() if value is not None)
    return {name.rstrip("0123456789"): value[:_LONGEST] for name, value in values if value}


def _trimmed(value: str) -> str:
    """Return the value without surrounding quotation marks; paired marks of its first and last word stay."""
    bare = value.strip(" \t'\"`,;")
    if not bare:
        return bare
    before, _, behind = value.partition(bare)
    if (
        behind[:1] in _QUOTES
        and (marks := [mark for mark in _MARK.finditer(bare) if mark[0] == behind[0]])
        and marks[-1]["opens"]
    ):
        bare += behind[0]
    if before[-1:] in _QUOTES and (mark := next((quote for quote in _MARK.finditer(bare) if quote[0] == before[-1]), None)):
        bare = bare if mark["opens"] else before[-1] + bare
    return bare


def lowered(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields in lower case."""
    return {name: value.lower() for name, value in fields.items()}


def file_names(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields with paths replaced by file names."""
    return {name: file_name(value) if name in _FILES else value for name, value in fields.items()}


def file_name(path: str) -> str:
    """Return the name of the file: ``/usr/lib/libcudnn.so.8`` -> ``libcudnn.so.8``."""
    return path.replace("\\", "/").rpartition("/")[2].strip("'\"`;,: ")


def replaced(fields: Mapping[str, str], words: Mapping[str, str]) -> dict[str, str]:
    """Return the fields with values replaced by ``words``, ignoring case."""
    return {name: words.get(value.lower(), value) for name, value in fields.items()}


def with_constants(fields: Mapping[str, str], constants: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the fields, with constants for those without a value.

    A constant may contain fields, which are then removed: ``with_constants({"number": "1"}, [("device", "GPU:{number}")])``
    -> ``{"device": "GPU:1"}``.
    """
    values = dict(fields)
    made = dict(constants)
    for name, constant in made.items():
        if "{" in constant:
            made[name] = _GROUP.sub(lambda group: values.pop(group[1], ""), constant)
    return {**made, **values}


def below_minimum(match: re.Match[str]) -> dict[str, str] | None:
    """Return the fields unless the GPU's compute capability is at least the minimum: code for 12.0 also runs on 12.1."""
    fields = named(match)
    lowest = fields.get("minimum")
    return None if lowest and versions.at_least(fields["capability"], lowest) else fields


def probability(match: re.Match[str]) -> dict[str, str]:
    """Return ``found``, TensorFlow's release, and ``install``, the TensorFlow Probability that was made for it."""
    fields = named(match)
    minor = int(fields.pop("minor"))
    number = minor - 7 if fields["found"].startswith("1.") else min(minor + 8, 24) if minor < 18 else 25
    return {**fields, "install": f"tensorflow-probability==0.{number}.*"}


# What an exception's message says the user should do.
_SENTENCE = re.compile(r"(?<=[.!?;]) +|(?<=[^n]:) +|(?<=,) (?=please )")
_VERBS = (
    r"please (?!see|note)|try|consider|use|set|install|upgrade|downgrade|make sure|call|pass|run|specify|provide|replace|rebuild"
    r"|increase|reduce|did you mean"
)
_BEFORE = r"and |or |so |then |instead,? |to [^,]{1,60}, |if [^,]{1,80}, "
_ANYWHERE = r"pip3? install|you (?:should|must|need to|may need to)|please (?!see|note)|did you mean|instead"
_ANYWHERE += r"|must (?:be|have|not|equal|match)|should (?:be|have)|needs? to be|has to be"
_ANYWHERE += r"|you can |by (?:passing|setting|calling|using|adding) "
_ADVICE = re.compile(rf"(?i)^(?:(?:{_BEFORE})?(?:{_VERBS})\b|.{{0,80}}\b(?:{_ANYWHERE})\b)")
_NEXT = re.compile(r" (?=(?:\w+\.)*[A-Z]\w*(?:Error|Exception)(?::|$))")  # a further exception
_NO_CURE = re.compile(
    r"(?i)\b(?:run time error|please read this|report|file an? |github\.com|bug|see (?:the|https?)|contact|try again|feed a value"
    r"|traceback|original stack trace|sudo|rm -)\b"
)
_NEEDS = re.compile(r"\b(?:requires?|needs?|[Cc]ould not import|[Cc]annot import) (?:the |that )?[`'\"]?([A-Za-z_]\w+)")
_PIP = re.compile(r"pip3? install (?:-U |--upgrade |-q )*['\"`]?([A-Za-z][\w.-]*(?:\[[\w,-]+\])?(?:[<>=!~]=?[\w.*]+)?)")


def advice(match: re.Match[str]) -> dict[str, str] | None:
    """Return ``cure``, the sentences that say what to do, and ``install``, the package that they name."""
    message = _NEXT.split(" ".join(match.string[match.start("message") : match.endpos].split()))[0]
    sentences = [part for part in _SENTENCE.split(message) if _ADVICE.match(part) and not _NO_CURE.search(part)]
    package = _PIP.search(message)
    needed = package_of(found[1]) if (found := _NEEDS.search(message)) else None
    install = package[1].rstrip(".") if package else needed or ""
    if not sentences and not needed:
        return None
    cure = f"Install {needed}, which the program needs" if needed else " ".join(sentences)
    return {"cure": short(cure, 240), **({"install": install} if install else {})}
