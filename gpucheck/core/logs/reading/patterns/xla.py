"""XLA and its tools: ptxas, libdevice, flags, and the backends JAX tried."""

import re

from gpucheck.core.logs.reading.patterns import named


def _backend(match: "re.Match[str]") -> dict[str, str] | None:
    """JAX tries every backend it knows; only what it raises is a failure."""
    fields = named(match) or {}
    fatal = re.search(r"Error: *$", match.string[: match.start()]) is not None
    return {**fields, "fatal": "yes" if fatal else "no"}


def _spaced(match: "re.Match[str]") -> dict[str, str] | None:
    return {"target": match["target"].replace(",", ".").replace(" ", "")}
