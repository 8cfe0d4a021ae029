"""Extract from an exception's message what the user should do."""

import re

from gpucheck.core.compat.modules import package_of
from gpucheck.core.repairs.wording import short

_SENTENCE = re.compile(r"(?<=[.!?;]) +|(?<=[^n]:) +|(?<=,) (?=please )")
_VERBS = (
    r"please (?!see|note)|try|consider|use|set|install|upgrade|downgrade|make sure|call|pass|run|specify|provide|replace|rebuild"
    r"|increase|reduce|did you mean"
)
_BEFORE = r"and |or |so |then |instead,? |to [^,]{1,60}, |if [^,]{1,80}, "
_ANYWHERE = r"pip3? install|you (?:should|must|need to|may need to)|please (?!see|note)|did you mean|instead"
_ANYWHERE += r"|must (?:be|have|not|equal|match)|should (?:be|have)|needs? to be|has to be"
_ANYWHERE += r"|you can |by (?:passing|setting|calling|using|adding) "
_SAYS = re.compile(rf"(?i)^(?:(?:{_BEFORE})?(?:{_VERBS})\b|.{{0,80}}\b(?:{_ANYWHERE})\b)")
_NEXT = re.compile(r" (?=(?:\w+\.)*[A-Z]\w*(?:Error|Exception)(?::|$))")  # a further exception
_NO_CURE = re.compile(
    r"(?i)\b(?:run time error|please read this|report|file an? |github\.com|bug|see (?:the|https?)|contact|try again|feed a value"
    r"|traceback|original stack trace|sudo|rm -)\b"
)
_NEEDS = re.compile(r"\b(?:requires?|needs?|[Cc]ould not import|[Cc]annot import) (?:the |that )?[`'\"]?([A-Za-z_]\w+)")
_PIP = re.compile(r"pip3? install (?:-U |--upgrade |-q )*['\"`]?([A-Za-z][\w.-]*(?:\[[\w,-]+\])?(?:[<>=!~]=?[\w.*]+)?)")


def advice(match: "re.Match[str]") -> dict[str, str] | None:
    """Return ``cure``, the sentences that say what to do, and ``install``, the package that they name."""
    message = _NEXT.split(" ".join(match.string[match.start("message") : match.endpos].split()))[0]
    said = [part for part in _SENTENCE.split(message) if _SAYS.match(part) and not _NO_CURE.search(part)]
    package = _PIP.search(message)
    needed = package_of(found[1]) if (found := _NEEDS.search(message)) else None
    install = package[1].rstrip(".") if package else needed or ""
    if not said and not needed:
        return None
    cure = f"Install {needed}, which the program needs" if needed else " ".join(said)
    return {"cure": short(cure, 240), **({"install": install} if install else {})}
