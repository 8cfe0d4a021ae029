"""Causes that a text tells of by what cured it: "works with NCCL_P2P_DISABLE=1"."""

import re

from gpucheck.logs.reading.patterns import Pattern
from gpucheck.logs.reading.patterns.prose import KIND

_WORKS = r"(?:works?|worked|working|runs?|ran|trains?|trained|succeed(?:s|ed)|passes|passed)"
_CURES = (
    r"(?:fix(?:es|ed)|solve[sd]|resolve[sd]|help(?:s|ed)|cure[sd]|works?|worked"
    r"|ma(?:kes|de) (?:it|training|this) (?:work|run|train))"
)
_OFF = r"NCCL_P2P_DISABLE ?= ?['\"]?1\b['\"]?"
# advice, questions, commands, and what was tried in vain
_UNTRIED = re.compile(
    r"(?i)\b(?:if|try|can|could|may|might|should|would|will|whether|unless|until|without|not|never|nor|neither|no|maybe|perhaps"
    r"|recommend\w*|suggest\w*|consider|e\.g)\b|n't\b|\?|^\W*(?:use|set|export|add|run|pass|see|check)\b"
    r"|\b(?:echo|print\w*|log\w*)[ (]"
)
_ENDS = re.compile(r"[.!?;|](?=\s|$)")


def _cured(match: "re.Match[str]") -> dict[str, str] | None:
    """Of the sentence as a whole: whether it tells of what came to pass."""
    text = match.string
    start = max((found.end() for found in _ENDS.finditer(text, 0, match.start())), default=0)
    after = _ENDS.search(text, match.end())
    sentence = text[start : after.end() if after else len(text)]
    return None if _UNTRIED.search(sentence) else {"cause": "peer-access-unavailable"}


PATTERNS = (
    Pattern(
        KIND,
        ("nccl_p2p_disable",),
        rf"(?i:\b{_WORKS}\b[^.\n;|]{{0,30}}?\b(?:with|after|by|when|once|using|setting)\b[^.\n;|]{{0,30}}?[`'\"*]*){_OFF}"
        rf"|{_OFF}(?i:[`'\"*]*[^.\n;|\w]{{1,4}}(?:(?:and|that|it|this|then|which|everything|training)\W{{1,2}}){{0,3}}{_CURES}\b)",
        _cured,
    ),
)
