"""NCCL and peer access between GPUs."""

import re

from gpucheck.core.logs.reading.patterns import named

# NCCL warns of much that it then does without.
_FAULT = re.compile(
    r"error|fail(?:ed|ure|s)\b|timed? ?out|refused|unreachable|no route|aborted|mismatch|corrupt|exhausted|no space left|invalid"
    r"|\bvendor err\b|incompatible|unable to|truncated|closed by remote|no (?:socket )?(?:interface|device) found",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(
    r"NET/Plugin|TUNER/Plugin|PROFILER/Plugin|No plugin found|hwloc|libibverbs|non-fatal|\bpciPath\b|/sys/devices/virtual"
    r"|NET/OFI.*(?:not find|not found|no provider)",
    re.IGNORECASE,
)


def _fault(match: "re.Match[str]") -> dict[str, str] | None:
    message = match["message"]
    return named(match) if _FAULT.search(message) and not _OPTIONAL.search(message) else None


def _noise(match: "re.Match[str]") -> dict[str, str] | None:
    return None if _fault(match) else named(match)
