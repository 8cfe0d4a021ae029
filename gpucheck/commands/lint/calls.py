"""The part of the trace that follows calls of functions in the file, decorators and classes."""

import ast
import re
from typing import Any

import msgspec

from gpucheck.commands.lint.expressions import Evaluator
from gpucheck.commands.lint.state import Frame
from gpucheck.commands.lint.values import UNKNOWN, Attribute, Call, Choice, Class, Function, Gathered, Name, Scope, Value

CALL_DEPTH_MAX = 12
EVENTS_MAX = 60_000  # above this, calls are no longer followed
CALLS_MAX = 4_000
# Decorators that call the function unchanged, and do not enter a strategy's scope around it.
PLAIN = re.compile(
    r"builtins\.(staticmethod|classmethod|property)|functools\.(wraps|lru_cache|cache|cached_property|singledispatch(method)?"
    r"|total_ordering)|contextlib\.(async)?contextmanager|(abc|typing|typing_extensions|dataclasses|atexit)\.\w+"
    r"|(tensorflow|keras)\.[\w.]+"
    r"|(absl|click|dagster|fastapi|fire|flask|gin|hydra|jax|line_profiler|memory_profiler|modal|mlflow|numba|numpy|prefect|pytest"
    r"|ray|retry|sacred|streamlit|tenacity|typer|unittest|wandb|zenml)\.[\w.]+"
)


class Caller(Evaluator):
    """Follows calls and definitions."""

    def follow(self, function: Function, call: Call | None) -> Value:
        """Follow a function of this file and return its value; without a call its arguments are unknown."""
        node = function.node
        busy = any(frame.node is node and frame.closure is function.closure for frame in self.frames)
        self.calls_followed += 1
        too_much = len(self.frames) >= CALL_DEPTH_MAX or len(self.events) > EVENTS_MAX or self.calls_followed > CALLS_MAX
        if busy or (too_much and call is not None):
            return UNKNOWN
        self.followed.add(id(node))
        frame = Frame(node, function.closure)
        self.frames.append(frame)
        scope = Scope(function.closure, self.parameters(function, call))
        with self.within(scope=scope, contexts=(*self.contexts, *function.around)):
            if isinstance(node, ast.Lambda):
                frame.returns.append(self.value(node.body))
            else:
                self.block(node.body)
        self.frames.pop()
        if frame.left is not None and frame.left < self.order:  # the rest may not have run
            self.undone = (*self.undone, (frame.left + 1, self.order))
        return frame.result()

    def parameters(self, function: Function, call: Call | None) -> dict[str, Value]:
        """Return the values that a function's parameters are bound to."""
        declared = function.node.args
        names = [item.arg for item in (*declared.posonlyargs, *declared.args)]
        bound: dict[str, Value] = {item.arg: UNKNOWN for item in ast.iter_child_nodes(declared) if isinstance(item, ast.arg)}
        given: list[Value] = [function.receiver] if function.receiver is not None else []
        if call is None:
            bound.update(zip(names, given, strict=False))
            return bound
        given += call.args
        if not call.starred:
            bound.update(function.defaults)
            rest = Gathered(tuple(given[len(names) :]), {})
            others = Gathered((), {name: value for name, value in call.keywords.items() if name not in bound})
            for gathered, value in ((declared.vararg, rest), (declared.kwarg, others)):
                if gathered is not None and _only_passed_on(function.node, gathered.arg):
                    bound[gathered.arg] = value
        bound.update(zip(names, given, strict=False))
        bound.update({name: value for name, value in call.keywords.items() if name in bound})
        return bound

    def called(self, call: Call) -> Value:
        """Return a call's value: the return value for a function of this file, otherwise the call itself."""
        function = call.function
        if isinstance(function, Function):
            if function.generator:  # its body runs later, or around a with block
                return UNKNOWN
            call.result = self.follow(function, call)
            return call.result
        if isinstance(function, Class):
            function.instance = call
            made = function.member("__init__")
            if isinstance(made, Function):
                self.follow(made.bound(call), call)
            return call
        return UNKNOWN if isinstance(function, Choice) else call

    def _on_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [(decorator, self.value(decorator)) for decorator in node.decorator_list]
        made: Value = self.define(node)
        for written, decorator in reversed(decorators):
            made = self.decorated(node, made, written, decorator)
        self.scope.set(node.name, made)

    _on_AsyncFunctionDef = _on_FunctionDef

    def decorated(self, node: Any, made: Value, written: ast.expr, decorator: Value) -> Value:
        """Return the decorated function. Decorators of this file are followed; unknown ones may wrap it in anything."""
        if _is_plain(decorator):
            return made
        # Callers elsewhere call the decorated function.
        self.defined[id(node)] = _with_unknown_surroundings(self.defined[id(node)])
        if not isinstance(decorator, Function) or decorator.around:
            return _with_unknown_surroundings(made) if isinstance(made, Function) else made
        decorated = ast.copy_location(ast.Name(node.name), node)
        call = ast.copy_location(ast.Call(func=written, args=[decorated], keywords=[]), written)
        call_of_decorator = Call(call, self.place(), decorator, (made,), {}, False)
        self.events.append(call_of_decorator)
        return self.called(call_of_decorator)

    def _on_ClassDef(self, node: ast.ClassDef) -> None:
        bases = tuple(self.value(base) for base in node.bases)
        for expression in (*node.decorator_list, *(keyword.value for keyword in node.keywords)):
            self.value(expression)
        made = Class(node, bases)
        with self.within(scope=Scope(self.scope, of_class=True)):
            self.block(node.body)
            made.members = self.scope.names
        self.scope.set(node.name, made)
        instance = Call(ast.Call(func=node, args=[], keywords=[]), self.place(), made, (), {}, True)  # type: ignore[arg-type]
        methods = [id(member.node) for member in made.members.values() if isinstance(member, Function)]
        for key in (*methods, *map(id, node.body)):
            if key in self.defined:
                self.defined[key] = self.defined[key].bound(instance)


def _only_passed_on(function: ast.AST, name: str) -> bool:
    """Whether a function only passes its parameter ``*name`` or ``**name`` on, unchanged."""
    nodes = list(ast.walk(function))
    passed = [node.value for node in nodes if isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and not node.arg)]
    return all(node in passed for node in nodes if isinstance(node, ast.Name) and node.id == name)


def _with_unknown_surroundings(function: Function) -> Function:
    """Return the function as if unknown with statements surrounded its calls."""
    return msgspec.structs.replace(function, around=(UNKNOWN,))


def _is_plain(decorator: Value) -> bool:
    """Whether a decorator is known to add nothing around the function, as ``@cli.command()`` or ``@width.setter``."""
    named = decorator.function if isinstance(decorator, Call) else decorator
    if isinstance(named, Name):
        return bool(PLAIN.fullmatch(named.path))
    root = named
    while isinstance(root, Attribute) and root.name != "scope":
        root = root.of
    if root is named:
        return False
    return isinstance(root, Function) or (isinstance(root, Call) and bool(PLAIN.fullmatch(root.name)))
