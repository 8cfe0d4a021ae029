"""NVML, nvidia-smi and the libraries on top of them."""

import re

from gpucheck.core.compat import results
from gpucheck.core.logs.reading.patterns import named

_UNANSWERED = {"2", "3", "6", "7", "13", "21", "25", "26"}  # one query that this GPU or driver does not know


def _result(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    spelled = fields.get("name") or fields.get("message", "")
    result = results.nvml(spelled) or results.nvml(f"NVML_{spelled.partition(' ')[0]}")  # Go's bindings leave the prefix out
    if result is not None:
        if result.code in _UNANSWERED:
            return None
        fields |= {"code": result.code, "name": result.name}
        fields.setdefault("message", result.message)
    return fields


def _handle(match: "re.Match[str]") -> dict[str, str] | None:
    """A GPU whose handle is "Not Found" is gone, though the same words elsewhere are of one query only."""
    return _result(match) or {**(named(match) or {}), "code": "28", "name": "NVML_ERROR_GPU_NOT_FOUND"}


def _unprefixed(match: "re.Match[str]") -> dict[str, str] | None:
    name = f"NVML_{match['name']}"
    result = results.nvml(name)
    if result is None or result.code in _UNANSWERED:
        return None
    return {"code": result.code, "name": name, "message": result.message}
