"""The part of the trace that follows definitions: functions, what their decorators make of them, and classes."""

import ast
import re
from typing import Any

from gpucheck.lint.functions import Caller
from gpucheck.lint.values import UNKNOWN, Attribute, Call, Class, Function, Name, Scope, Value

# Decorators that call the function as it is, and do not enter a strategy's scope around it.
PLAIN = re.compile(
    r"builtins\.(staticmethod|classmethod|property)|functools\.(wraps|lru_cache|cache|cached_property|singledispatch(method)?"
    r"|total_ordering)|contextlib\.(async)?contextmanager|(abc|typing|typing_extensions|dataclasses|atexit)\.\w+"
    r"|(tensorflow|keras)\.[\w.]+"
    r"|(absl|click|dagster|fastapi|fire|flask|gin|hydra|jax|line_profiler|memory_profiler|modal|mlflow|numba|numpy|prefect|pytest"
    r"|ray|retry|sacred|streamlit|tenacity|typer|unittest|wandb|zenml)\.[\w.]+"
)


class Definer(Caller):
    """Follows definitions."""

    def _on_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [(decorator, self.value(decorator)) for decorator in node.decorator_list]
        for expression in (*node.args.defaults, *(item for item in node.args.kw_defaults if item)):
            self.value(expression)
        made: Value = self.define(node)
        for written, decorator in reversed(decorators):
            made = self.decorated(node, made, written, decorator)
        self.scope.set(node.name, made)

    _on_AsyncFunctionDef = _on_FunctionDef

    def decorated(self, node: Any, made: Value, written: ast.expr, decorator: Value) -> Value:
        """What a decorator makes of a function: one of this file is followed, an unknown one may do anything around it."""
        if _is_plain(decorator):
            return made
        self.defined[id(node)] = _loose(self.defined[id(node)])  # who calls it from elsewhere calls it decorated
        if not isinstance(decorator, Function) or decorator.around:
            return _loose(made) if isinstance(made, Function) else made
        call = ast.copy_location(
            ast.Call(func=written, args=[ast.copy_location(ast.Name(node.name), node)], keywords=[]), written
        )
        found = Call(call, self.place(), decorator, (made,), {}, False)
        self.events.append(found)
        return self.called(found)

    def _on_ClassDef(self, node: ast.ClassDef) -> None:
        bases = tuple(self.value(base) for base in node.bases)
        for expression in (*node.decorator_list, *(keyword.value for keyword in node.keywords)):
            self.value(expression)
        made = Class(node, bases)
        outer, self.scope = self.scope, Scope(self.scope)
        self.scope.of_class = True
        self.block(node.body)
        made.members, self.scope = self.scope.names, outer
        self.scope.set(node.name, made)
        instance = Call(ast.Call(func=node, args=[], keywords=[]), self.place(), made, (), {}, True)  # type: ignore[arg-type]
        methods = [id(member.node) for member in made.members.values() if isinstance(member, Function)]
        for key in (*methods, *map(id, node.body)):
            if key in self.defined:
                self.defined[key] = self.defined[key].bound(instance)


def _loose(function: Function) -> Function:
    """The same where nobody knows what is around its calls."""
    return Function(function.node, function.closure, function.since, function.receiver, (UNKNOWN,))


def _is_plain(decorator: Value) -> bool:
    """Whether it is known to leave alone what happens around the function: also ``@cli.command()``, ``@width.setter``."""
    named = decorator.function if isinstance(decorator, Call) else decorator
    if isinstance(named, Name):
        return bool(PLAIN.fullmatch(named.path))
    root = named
    while isinstance(root, Attribute) and root.name != "scope":
        root = root.of
    if root is named:
        return False
    return isinstance(root, Function) or (isinstance(root, Call) and bool(PLAIN.fullmatch(root.name)))
