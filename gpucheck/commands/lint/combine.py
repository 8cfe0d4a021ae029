"""Values derived from others: either of two, an element, an attribute."""

import functools

from gpucheck.commands.lint.lookup import is_call, options
from gpucheck.commands.lint.values import UNKNOWN, Attribute, Call, Choice, Class, Each, Element, Function, Items, Value

OPTIONS_MAX = 8  # a value with more options than this is unknown


def merge(first: Value | None, second: Value | None) -> Value:
    """Return a value that may be either of two; a name that only one branch binds keeps its value."""
    if first is None or second is None or first is second:
        return first or second or UNKNOWN
    choices: dict[int, Value] = {id(option): option for way in (first, second) for option in options(way)}
    if len(choices) > OPTIONS_MAX:
        return UNKNOWN
    return Choice(tuple(choices.values())) if len(choices) > 1 else next(iter(choices.values()))


def element(value: Value, index: int | None) -> Value:
    """Return an element at a position, or any element."""
    if isinstance(value, Items):
        if index is None:
            return Each(value.items) if value.items else UNKNOWN
        return value.items[index] if -len(value.items) <= index < len(value.items) else UNKNOWN
    if isinstance(value, Choice):
        return functools.reduce(merge, [element(option, index) for option in value.options])
    return UNKNOWN if value is UNKNOWN else Element(value, index)


def each(value: Value) -> Value:
    """Return the value that a loop variable is bound to."""
    if is_call(value, "builtins.enumerate") and value.args:
        return Items((Element(value, None), each(value.args[0])))
    if is_call(value, "builtins.zip") and not value.starred:
        return Items(tuple(each(item) for item in value.args))
    return Element(UNKNOWN, None) if value is UNKNOWN else element(value, None)


def attribute(of: Value, name: str) -> Value:
    """Return an attribute of a value."""
    if isinstance(of, Call) and name in of.attributes:
        return of.attributes[name]
    kind = of.function if isinstance(of, Call) else of
    member = kind.member(name) if isinstance(kind, Class) else None
    if member is not None:
        return member.bound(of) if isinstance(member, Function) and isinstance(of, Call) else member
    if isinstance(of, Choice) and len(of.options) <= 3:
        ways = [attribute(option, name) for option in of.options]
        if isinstance(of, Each) or not all(isinstance(way, Attribute) for way in ways):
            return functools.reduce(merge, ways)
    return Attribute(of, name)  # of a Choice: the same method of any option
