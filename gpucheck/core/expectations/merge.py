"""Several files of expectations as one."""

from typing import TypeVar

import msgspec

from gpucheck.core.model import Expectations

Part = TypeVar("Part", bound=msgspec.Struct)


class Contradiction(ValueError):
    """Two files expect different things of one field; the message names it, and both."""


def merge(first: Expectations, second: Expectations) -> Expectations:
    """Everything that either expects; what both mute or allow is joined.

    Raises:
        Contradiction: they expect different things of one field.
    """
    return _merged(first, second, "")


def _merged(first: Part, second: Part, place: str) -> Part:
    fields = {}
    for field in msgspec.structs.fields(first):
        name, one, other = field.encode_name, getattr(first, field.name), getattr(second, field.name)
        if isinstance(one, msgspec.Struct):
            fields[field.name] = _merged(one, other, f"{place}{name}.")
        elif name in ("mute", "allowed_warnings", "strategies"):
            fields[field.name] = (*one, *(item for item in other if item not in one))
        elif isinstance(one, dict):
            fields[field.name] = {**one, **other} if place else one
        elif one in (None, ()) or other in (None, ()) or one == other:
            fields[field.name] = other if one in (None, ()) else one
        else:
            raise Contradiction(f"{place}{name} is {_words(one)} in one and {_words(other)} in the other")
    return msgspec.structs.replace(first, **fields)


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
