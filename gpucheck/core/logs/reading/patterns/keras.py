"""Keras: its backend, its versions, precision policies, and what was removed from TensorFlow."""

import re

from gpucheck.core.logs.reading.patterns import named

_BACKENDS = {"pytorch": "torch"}


def _backend(match: "re.Match[str]") -> dict[str, str] | None:
    name = match["name"].lower()
    return {"name": _BACKENDS.get(name, name)}


def _legacy(match: "re.Match[str]") -> dict[str, str] | None:
    return {"name": next(group for group in match.groups() if group)}


def _other(match: "re.Match[str]") -> dict[str, str] | None:
    return {"name": (named(match) or {})["name"].lower()}


def _conflict(match: "re.Match[str]") -> dict[str, str] | None:
    return None if "multi_gpu" in match[0] else named(match)


def _dtype(match: "re.Match[str]") -> dict[str, str] | None:
    dtype = (named(match) or {})["dtype"].lower()
    return {"dtype": {"half": "float16"}.get(dtype, dtype)}


# What Keras 2 took and Keras 3 does not, or the reverse.
