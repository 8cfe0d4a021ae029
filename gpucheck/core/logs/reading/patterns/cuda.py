"""CUDA results: cuInit and what takes its place in other frameworks, the driver's age, and everything later."""

import re

from gpucheck.core.compat import results
from gpucheck.core.logs.reading.patterns import named

_INIT_CALLS = ("cuinit", "cudagetdevicecount()")
_HARMLESS = {"0", "4", "600", "704"}  # success; the driver shutting down; not ready yet; enabled before


def _result(match: "re.Match[str]") -> dict[str, str] | None:
    """code, name and message of whatever the pattern caught: a number, a name or a sentence."""
    caught = named(match) or {}
    spelled = next((caught[key] for key in ("name", "code", "number", "message") if key in caught), "")
    result = results.cuda(spelled)
    if result is None and "message" in caught:
        result = results.cuda(caught["message"])
    fields = {key: value for key, value in caught.items() if key in ("call", "message", "name", "code")}
    if result is not None:
        fields |= {"code": result.code, "name": fields.get("name", result.name)}
        fields.setdefault("message", result.message)
    if fields.get("code") in _HARMLESS:
        return None
    return fields


def _init(match: "re.Match[str]") -> dict[str, str] | None:
    fields = _result(match)
    if fields is not None:
        fields.pop("call", None)
    return fields


def _later(match: "re.Match[str]") -> dict[str, str] | None:
    """A result that is neither cuInit's nor a device count's."""
    line = match.string.lower()
    if any(call in line for call in _INIT_CALLS) or " bytes on host" in line:
        return None
    fields = _result(match)
    return fields if fields and ("code" in fields or "name" in fields) else None


def _stub(match: "re.Match[str]") -> dict[str, str] | None:
    return {"path": match["path"].split()[-1].rpartition('"')[2]}
