"""Queries about values and places: possible values, the parts of a value, the order of places."""

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard

from gpucheck.commands.lint.names import canonical
from gpucheck.commands.lint.values import (
    UNKNOWN,
    Attribute,
    Call,
    Choice,
    Class,
    Constant,
    Each,
    Element,
    Function,
    Items,
    Name,
    Operation,
    Pairs,
    Place,
    Scope,
    Value,
)

FUNCTION_DEPTH_MAX = 8  # nested calls of functions
OPTIONS_MAX = 8  # a value with more options than this is unknown


def options(value: Value | None) -> Iterator[Value]:
    """Yield every possible value."""
    if isinstance(value, Choice):
        for option in value.options:
            yield from options(option)
    elif value is not None:
        yield value


NUMBER = "num_replicas_in_sync"  # a number, so its object is not one of its parts


def parts(value: Value | None, more: Callable[[Value], Iterable[Value]] = lambda value: ()) -> Iterator[Value]:
    """Yield a value and all values that it was computed from, once each; ``more`` returns further parts of a value."""
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
        elif isinstance(current, Element) or (isinstance(current, Attribute) and current.name != NUMBER):
            inner = (current.of,)
        left += [option for part in (*inner, *more(current)) for option in options(part)]


def is_call(value: object, *names: str) -> TypeGuard[Call]:
    """Whether a value is certainly the result of a call of one of these canonical names."""
    return isinstance(value, Call) and value.name in names


def all_calls(values: Iterable[Value], *names: str) -> bool:
    """Whether there are values, and all are certainly results of calls of these canonical names."""
    every = list(values)
    return bool(every) and all(is_call(value, *names) for value in every)


def under(place: Place, *names: str) -> bool:
    """Whether a with statement around a place may enter the result of a call of one of these canonical names."""
    return any(is_call(option, *names) for context in place.contexts for option in options(context))


def iterated(values: Iterable[Value | None]) -> Iterator[Value]:
    """Yield the iterables of the loops whose variables these values are computed from."""
    every = (part for value in values for part in parts(value))
    return (part.of for part in every if isinstance(part, Element) and part.index is None)


def constant(value: Value | None) -> Any:
    """Return the literal if the value certainly is one, else None."""
    return value.value if isinstance(value, Constant) else None


def is_none(value: Value | None) -> bool:
    """Whether an argument is certainly not passed, or the literal None."""
    return value is None or (isinstance(value, Constant) and value.value is None)


def in_uncalled_function(place: Place) -> bool:
    """Whether a place is in a function that the file never calls, so that its callers and order are unknown."""
    return bool(place.path) and place.path[0][1] == -1


def earlier(first: Place, second: Place) -> bool:
    """Whether the first place, if it runs at all, runs before the second."""
    return first.order < second.order and not any(begin <= first.order <= end for begin, end in second.undone)


def before(first: Place, second: Place) -> bool:
    """Whether the first place has certainly run when the second runs."""
    return earlier(first, second) and first.path == second.path[: len(first.path)]


def merge(first: Value | None, second: Value | None) -> Value:
    """Return a value that may be either of two; a name bound on one branch only keeps its value."""
    if first is second or second is None:
        return first or UNKNOWN
    if first is None:
        return second
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
    if isinstance(of, Call):
        if name in of.attributes:
            return of.attributes[name]
        if isinstance(of.function, Class):
            member = of.function.member(name)
            if isinstance(member, Function):
                return member.bound(of)
            if member is not None:
                return member
    if isinstance(of, Class):
        return of.member(name) or Attribute(of, name)
    if isinstance(of, Choice) and len(of.options) <= 3:
        ways = [attribute(option, name) for option in of.options]
        if not isinstance(of, Each) and all(isinstance(way, Attribute) for way in ways):
            return Attribute(of, name)  # the same method of any option
        return functools.reduce(merge, ways)
    return Attribute(of, name)


def used_by(target: Value | None, outer: tuple[int, ...] = ()) -> Iterator[Value]:
    """Yield the values that a function of this file names, including those of other functions of this file that it names.

    ``tf.io.read_file`` is one ``Name``. Yields nothing if the target is not a function of this file.
    """
    if not isinstance(target, Function) or id(target.node) in outer or len(outer) > FUNCTION_DEPTH_MAX:
        return
    for node in ast.walk(target.node):
        if isinstance(node, ast.Attribute):
            if path := _dotted(node, target.closure):
                yield Name(path)
        elif isinstance(node, ast.Name):
            value_of_name = target.closure.get(node.id)
            if isinstance(value_of_name, Function):
                yield from used_by(value_of_name, (*outer, id(target.node)))
            elif value_of_name is not None:
                yield value_of_name


def _dotted(node: ast.Attribute, closure: Scope) -> str:
    """Return the canonical name of a dotted expression such as ``tf.math.add``, or ""."""
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    root = closure.get(inner.id) if isinstance(inner, ast.Name) else None
    return canonical(".".join([root.path, *reversed(names)])) if isinstance(root, Name) else ""
