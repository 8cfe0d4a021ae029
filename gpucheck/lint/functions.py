"""The third of the trace that binds names and follows calls of the file's own functions and methods."""

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
    Each,
    Element,
    Function,
    Handed,
    Items,
    Scope,
    Store,
    Value,
    constant,
    merge,
    options,
)

DEEPEST_CALL = 12
MOST_EVENTS = 60_000  # beyond these, calls are not followed any more
MOST_CALLS = 4_000


class Frame:
    """One call of a function that is being followed."""

    def __init__(self, node: Any, closure: Scope) -> None:
        self.node = node
        self.closure = closure  # another one is another function: a decorator's wrapper around something else
        self.returns: list[Value] = []
        self.left: int | None = None  # the order at which it may have returned early


class Caller(Evaluator):
    """Follows functions; what it needs of the statements is declared here and defined by the tracer."""

    frames: list[Frame]
    defined: dict[int, Function]  # functions of this file by the id of their node
    followed: set[int]
    calls_followed: int
    generators: dict[int, bool]
    contexts: tuple[Value, ...]
    order: int
    since: int | None  # of the function that is followed though nobody in the file calls it
    undone: tuple[tuple[int, int], ...]

    def block(self, statements: list[ast.stmt]) -> bool:
        """Follow statements; whether the last one followed leaves the block."""
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to whatever stands left of the equals sign."""
        if isinstance(target, ast.Name):
            if isinstance(value, Constant):
                value.names.add(target.id)
            self.scope.set(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = next((index for index, item in enumerate(target.elts) if isinstance(item, ast.Starred)), len(target.elts))
            for index, item in enumerate(target.elts):
                self.bind(item, self.element(value, index) if index < starred else UNKNOWN)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, UNKNOWN)
        elif isinstance(target, ast.Attribute):
            self.store(target, self.value(target.value), Constant(target.attr), value)
        elif isinstance(target, ast.Subscript):
            of = self.value(target.value)
            self.events.append(Store(target, self.place(), of, self.value(target.slice), value))

    def store(self, node: ast.AST, of: Value, key: Value, value: Value) -> None:
        """Assign to an attribute."""
        self.events.append(Store(node, self.place(), of, key, value))
        name = constant(key)
        for one in options(of):
            if isinstance(one, Call) and isinstance(name, str):
                known = one.attributes.get(name)
                one.attributes[name] = merge(known, value) if self.path else value

    def define(self, node: Any) -> Function:
        """A function of this file; it is followed when it is called, or at the end."""
        scope = self.scope
        while scope.of_class and scope.parent is not None:
            scope = scope.parent
        made = Function(node, scope, self.order if self.since is None else self.since)
        self.defined.setdefault(id(node), made)
        return made

    def follow(self, function: Function, call: Call | None) -> Value:
        """Follow a function of this file and return what it returns; without a call its arguments are unknown."""
        node = function.node
        busy = any(frame.node is node and frame.closure is function.closure for frame in self.frames)
        self.calls_followed += 1
        too_much = len(self.frames) >= DEEPEST_CALL or len(self.events) > MOST_EVENTS or self.calls_followed > MOST_CALLS
        if busy or (too_much and call is not None):
            return UNKNOWN
        self.followed.add(id(node))
        frame = Frame(node, function.closure)
        self.frames.append(frame)
        outer, self.scope = self.scope, Scope(function.closure, self.parameters(function, call))
        contexts, self.contexts = self.contexts, (*self.contexts, *function.around)
        if isinstance(node, ast.Lambda):
            frame.returns.append(self.value(node.body))
        else:
            self.block(node.body)
        self.scope, self.contexts = outer, contexts
        self.frames.pop()
        if frame.left is not None and frame.left < self.order:  # for the caller it is not certain what came after that
            self.undone = (*self.undone, (frame.left + 1, self.order))
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
        if not call.starred:
            rest = Handed(tuple([*given, *call.args][len(names) :]), {})
            others = Handed((), {name: value for name, value in call.keywords.items() if name not in bound})
            for gathered, value in ((declared.vararg, rest), (declared.kwarg, others)):
                if gathered is not None and _handed_on(function.node, gathered.arg):
                    bound[gathered.arg] = value
        return bound

    def yields(self, node: Any) -> bool:
        """Whether a function is a generator."""
        if id(node) not in self.generators:
            self.generators[id(node)] = not isinstance(node, ast.Lambda) and any(map(_yields, node.body))
        return self.generators[id(node)]

    def called(self, call: Call) -> Value:
        """What a call returns: of a function of this file what it returns, of anything else the call itself."""
        function = call.function
        if isinstance(function, Function):
            if self.yields(function.node):
                return UNKNOWN  # its body runs later, or around a with block
            call.result = self.follow(function, call)
            return call.result
        if isinstance(function, Class):
            function.instance = call
            made = function.member("__init__")
            if isinstance(made, Function):
                self.follow(made.bound(call), call)
            return call
        return UNKNOWN if isinstance(function, Choice) else call

    def element(self, value: Value, index: int | None) -> Value:
        """An element at a position, or any."""
        if isinstance(value, Items):
            if index is None:
                return Each(value.items) if value.items else UNKNOWN
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
            return Items((Element(value, None), self.each(value.args[0])))
        if isinstance(value, Call) and value.name == "builtins.zip" and not value.starred:
            return Items(tuple(self.each(item) for item in value.args))
        return Element(UNKNOWN, None) if value is UNKNOWN else self.element(value, None)

    def attribute(self, of: Value, name: str) -> Value:
        """An attribute of a value."""
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
            each = [self.attribute(option, name) for option in of.options]
            if not isinstance(of, Each) and all(isinstance(one, Attribute) for one in each):
                return Attribute(of, name)  # the same method, of whichever it is
            found: Value | None = None
            for one in each:
                found = merge(found, one)
            return found or UNKNOWN
        return Attribute(of, name)


def _yields(statement: ast.AST) -> bool:
    left = [statement]
    while left:
        node = left.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            left += ast.iter_child_nodes(node)
    return False


def _handed_on(function: ast.AST, name: str) -> bool:
    """Whether ``*name`` or ``**name`` of a function's parameters is only passed to others as it is, and so stays what it was."""
    used = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function))
    passed = sum(
        isinstance(node, (ast.Starred, ast.keyword)) and isinstance(node.value, ast.Name) and node.value.id == name
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        for node in (*call.args, *(keyword for keyword in call.keywords if keyword.arg is None))
    )
    return used == passed
