"""Queries about values and places: possible values, the parts of a value, the order of places."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard

from gpucheck.commands.lint.values import Attribute, Call, Choice, Constant, Element, Items, Operation, Pairs, Place, Value

TAPE = "tensorflow.GradientTape"


def options(value: Value | None) -> Iterator[Value]:
    """Yield every possible value."""
    if isinstance(value, Choice):
        for option in value.options:
            yield from options(option)
    elif value is not None:
        yield value


def parts(value: Value | None, through: Callable[[Call], bool] = lambda call: False) -> Iterator[Value]:
    """Yield a value and all values that it was computed from, once each, including through calls that ``through`` accepts."""
    visited: set[int] = set()
    left = list(options(value))
    while left:
        current = left.pop()
        if id(current) in visited:
            continue
        visited.add(id(current))
        yield current
        inner: tuple[Value, ...] = ()
        if isinstance(current, Operation):
            inner = current.parts
        elif isinstance(current, Items):
            inner = current.items
        elif isinstance(current, Pairs):
            inner = tuple(part for pair in current.items for part in pair)
        elif isinstance(current, Element) or (isinstance(current, Attribute) and current.name != "num_replicas_in_sync"):
            # A strategy is not a part of its number of replicas.
            inner = (current.of,)
        elif isinstance(current, Call) and through(current):
            inner = (current.function, *current.args)
        left += [option for part in inner for option in options(part)]


def holds(values: Iterable[Value], target: Value) -> bool:
    """Whether one of these values is the target, or was computed from it."""
    return any(part is target for value in values for part in parts(value))


def is_call(value: object, *names: str) -> TypeGuard[Call]:
    """Whether a value is definitely the result of a call of one of these canonical names."""
    return isinstance(value, Call) and value.name in names


def all_calls(values: Iterable[Value], *names: str) -> bool:
    """Whether there are values, and all are definitely results of calls of these canonical names."""
    every = list(values)
    return bool(every) and all(is_call(value, *names) for value in every)


def under(place: Place, *names: str) -> bool:
    """Whether a with statement around a place may enter the result of a call of one of these canonical names."""
    return any(is_call(option, *names) for context in place.contexts for option in options(context))


def left_on(calls: Iterable[Call], name: str) -> list[Call]:
    """Return the last calls that pass True as their first argument, called ``name``; none if the last one passes another."""
    latest = sorted(calls, key=lambda call: call.place.order, reverse=True)
    return list(itertools.takewhile(lambda call: constant(call.argument(name, 0)) is True, latest))


def iterated(values: Iterable[Value | None]) -> Iterator[Value]:
    """Yield the iterables of the loops whose variables these values are computed from."""
    every = (part for value in values for part in parts(value))
    return (part.of for part in every if isinstance(part, Element) and part.index is None)


def constant(value: Value | None) -> Any:
    """Return the literal if the value is known to be one; None otherwise."""
    return value.value if isinstance(value, Constant) else None


def is_none(value: Value | None) -> bool:
    """Whether an argument is definitely not passed, or is the literal None."""
    return value is None or (isinstance(value, Constant) and value.value is None)


def in_uncalled_function(place: Place) -> bool:
    """Whether a place is in a function that the file never calls, so that its callers and order are unknown."""
    return bool(place.path) and place.path[0][1] == -1


def earlier(first: Place, second: Place) -> bool:
    """Whether the first place, if it runs at all, runs before the second."""
    return first.order < second.order and not any(begin <= first.order <= end for begin, end in second.undone)


def before(first: Place, second: Place) -> bool:
    """Whether the first place has definitely run when the second runs."""
    return earlier(first, second) and first.path == second.path[: len(first.path)]
