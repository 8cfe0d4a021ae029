"""The third of the trace that follows calls of the file's own functions and methods."""

import ast
from typing import Any

from gpucheck.lint.evaluate import Evaluator
from gpucheck.lint.values import (
    UNKNOWN,
    Attribute,
    Call,
    Choice,
    Class,
    Constant,
    Element,
    Function,
    Items,
    Scope,
    Value,
    merge,
)

DEEPEST_CALL = 12
MOST_EVENTS = 60_000  # beyond it calls are not followed any more


class Frame:
    """One call of a function that is being followed."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.returns: list[Value] = []


class Caller(Evaluator):
    """Follows functions; what it needs of the statements is declared here and defined by the tracer."""

    frames: list[Frame]
    defined: dict[int, Function]  # functions of this file by the id of their node
    followed: set[int]

    def block(self, statements: list[ast.stmt]) -> bool:
        """Follow statements; whether the last one followed leaves the block."""
        raise NotImplementedError

    def define(self, node: Any) -> Function:
        """A function of this file; it is followed when it is called, or at the end."""
        made = Function(node, self.scope)
        self.defined.setdefault(id(node), made)
        return made

    def follow(self, function: Function, call: Call | None) -> Value:
        """Follow a function of this file and return what it returns; without a call its arguments are unknown."""
        node = function.node
        busy = any(frame.node is node for frame in self.frames)
        too_much = len(self.frames) >= DEEPEST_CALL or len(self.events) > MOST_EVENTS
        if busy or (too_much and call is not None):
            return UNKNOWN
        self.followed.add(id(node))
        frame = Frame(node)
        self.frames.append(frame)
        outer, self.scope = self.scope, Scope(function.closure, self.parameters(function, call))
        if isinstance(node, ast.Lambda):
            frame.returns.append(self.value(node.body))
        else:
            self.block(node.body)
        self.scope = outer
        self.frames.pop()
        result: Value | None = None
        for value in frame.returns:
            result = merge(result, value)
        return result or Constant(None)

    def parameters(self, function: Function, call: Call | None) -> dict[str, Value]:
        """What a function's parameters are bound to."""
        declared = function.node.args
        names = [item.arg for item in (*declared.posonlyargs, *declared.args)]
        bound: dict[str, Value] = dict.fromkeys([*names, *(item.arg for item in declared.kwonlyargs)], UNKNOWN)
        for rest in (declared.vararg, declared.kwarg):
            if rest is not None:
                bound[rest.arg] = UNKNOWN
        given: list[Value] = [function.receiver] if function.receiver is not None else []
        if call is None:
            bound.update(zip(names, given, strict=False))
            return bound
        if not call.starred:
            outer, self.scope = self.scope, function.closure
            defaults = list(zip(names[len(names) - len(declared.defaults) :], declared.defaults, strict=True))
            defaults += [
                (item.arg, value) for item, value in zip(declared.kwonlyargs, declared.kw_defaults, strict=True) if value
            ]
            bound.update({name: self.value(value) for name, value in defaults})
            self.scope = outer
        bound.update(zip(names, [*given, *call.args], strict=False))
        bound.update({name: value for name, value in call.keywords.items() if name in bound})
        return bound

    def called(self, call: Call) -> Value:
        """What a call returns: of a function of this file what it returns, of anything else the call itself."""
        function = call.function
        if isinstance(function, Function):
            generator = any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in ast.walk(function.node))
            if generator:
                return UNKNOWN
            call.result = self.follow(function, call)
            return call.result
        if isinstance(function, Class):
            function.instance = call
            made = function.member("__init__")
            if isinstance(made, Function):
                self.follow(Function(made.node, made.closure, call), call)
            return call
        return UNKNOWN if isinstance(function, Choice) else call

    def element(self, value: Value, index: int | None) -> Value:
        """An element at a position, or any."""
        if isinstance(value, Items):
            if index is None:
                return Choice(value.items) if value.items else UNKNOWN
            return value.items[index] if -len(value.items) <= index < len(value.items) else UNKNOWN
        if isinstance(value, Choice):
            found: Value | None = None
            for option in value.options:
                found = merge(found, self.element(option, index))
            return found or UNKNOWN
        return UNKNOWN if value is UNKNOWN else Element(value, index)

    def each(self, value: Value) -> Value:
        """What a loop's variable is bound to."""
        if isinstance(value, Call) and value.name == "builtins.enumerate" and value.args:
            return Items((UNKNOWN, self.each(value.args[0])))
        if isinstance(value, Call) and value.name == "builtins.zip" and not value.starred:
            return Items(tuple(self.each(item) for item in value.args))
        return self.element(value, None)

    def attribute(self, of: Value, name: str) -> Value:
        """An attribute of a value."""
        if isinstance(of, Call):
            if name in of.attributes:
                return of.attributes[name]
            if isinstance(of.function, Class):
                member = of.function.member(name)
                if isinstance(member, Function):
                    return Function(member.node, member.closure, of)
                if member is not None:
                    return member
        if isinstance(of, Class):
            return of.member(name) or Attribute(of, name)
        if isinstance(of, Choice) and len(of.options) <= 3:
            found: Value | None = None
            for option in of.options:
                found = merge(found, self.attribute(option, name))
            return found or UNKNOWN
        return Attribute(of, name)
