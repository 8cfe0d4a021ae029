"""Read or change all strings of a report, each with the field that contains it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpucheck.core.model import Fix

# Fields whose texts gpucheck defines.
KEPT = frozenset({"code", "row", "first_check", "explained_by", "strategy", "precision", "status", "fact", "field", "probe"})


def strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string with the field that contains it."""
    if type(value) is str:
        yield key, value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield "", str(name)
            yield from strings(entry, str(name))
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from strings(entry, key)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from strings(getattr(value, name), name)


def changed(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """Return a copy with every string changed, except in fields whose texts gpucheck defines."""
    if type(value) is str:
        return change(key, value)
    if isinstance(value, dict):
        variables = key == "variables"
        return {
            _key(name, change): changed(entry, change, f"${name}" if variables else str(name)) for name, entry in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(changed(entry, change, key) for entry in value)
    if isinstance(value, Struct):
        fields = [name for name in value.__struct_fields__ if name not in KEPT]
        return replace(value, **{name: changed(getattr(value, name), change, _named(value, name)) for name in fields})
    return value


def _key(name: Any, change: Callable[[str, str], str]) -> Any:
    """Return a key: field names are unchanged; paths, addresses and UUIDs are redacted."""
    return name if not isinstance(name, str) or re.fullmatch(r"\w+|[\w+-]+\.so[\w.]*", name) else change("", name)


def _named(value: Struct, name: str) -> str:
    if name == "text" and isinstance(value, Fix):
        return "command"
    evidence = getattr(value, "field", "")
    return f"${evidence.partition('.')[2]}" if name == "value" and str(evidence).startswith("variables.") else name
