"""The state that the parts of the trace share: the position in the program, and the recorded events."""

import ast
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gpucheck.commands.lint.combine import merge
from gpucheck.commands.lint.lookup import constant, options
from gpucheck.commands.lint.values import Call, Constant, Event, Function, Place, Scope, Store, Test, Value


class Frame(msgspec.Struct, eq=False):
    """One call of a function that is being followed."""

    node: Any
    closure: Scope  # distinguishes wrappers from the same decorator
    returns: list[Value] = []
    left: int | None = None  # order at which the function may have returned early

    def result(self) -> Value:
        """Return the value that the function may return."""
        return functools.reduce(merge, self.returns) if self.returns else Constant(None)


class State:
    """The trace's position and recorded events. ``expressions``, ``calls`` and ``trace`` add the nodes that they follow."""

    # Follow statements, a call and an expression. The first returns whether a statement leaves the block.
    block: Callable[[list[ast.stmt]], bool]
    called: Callable[[Call], Value]
    value: Callable[[ast.expr], Value]

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.conditions: dict[int, Value] = {}  # condition of each if; key: id of the node
        self.complete = True
        self.scope = Scope()
        self.stars: list[str] = []  # modules imported with ``*``
        # the current place
        self.order = 0
        self.path: tuple[tuple[int, int], ...] = ()
        self.contexts: tuple[Value, ...] = ()
        self.guards: tuple[str, ...] = ()
        self.loops = 0
        self.undone: tuple[tuple[int, int], ...] = ()
        # functions of this file
        self.frames: list[Frame] = []
        self.defined: dict[int, Function] = {}  # key: id of the node
        self.followed: set[int] = set()
        self.since: int | None = None  # order of the definition of a function that the file never calls
        # limits of the work
        self.depth = 0  # number of enclosing expressions
        self.calls_followed = 0
        self.steps = 0

    def place(self) -> Place:
        """Return the current place."""
        self.order += 1
        return Place(self.order, self.path, self.contexts, self.guards, self.loops, self.undone)

    @contextlib.contextmanager
    def within(self, **position: Any) -> Iterator[None]:
        """Change parts of the position, such as ``scope`` or ``contexts``, and restore them afterwards."""
        outer = {name: getattr(self, name) for name in position}
        vars(self).update(position)
        yield
        vars(self).update(outer)

    def branch(self, node: ast.AST, arm: int) -> contextlib.AbstractContextManager[None]:
        """Enter a branch of a node, which the program may skip."""
        return self.within(path=(*self.path, (id(node), arm)))

    def test(self, node: ast.expr) -> Value:
        """Follow a condition and return its value."""
        value = self.value(node)
        self.events.append(Test(node, self.place(), value))
        return value

    def store(self, node: ast.AST, of: Value, key: Value, value: Value) -> None:
        """Assign to an attribute or an element."""
        self.events.append(Store(node, self.place(), of, key, value))
        name = None if isinstance(node, ast.Subscript) else constant(key)
        for option in options(of):
            if isinstance(option, Call) and isinstance(name, str):
                option.attributes[name] = merge(option.attributes.get(name), value) if self.path else value

    def define(self, node: Any) -> Function:
        """Return a function of this file; it is followed when it is called, or at the end. Its defaults are followed now."""
        declared = node.args
        positional = [*declared.posonlyargs, *declared.args]
        optional = [*positional[len(positional) - len(declared.defaults) :], *declared.kwonlyargs]
        pairs = zip(optional, [*declared.defaults, *declared.kw_defaults], strict=True)
        defaults = {item.arg: self.value(value) for item, value in pairs if value}
        scope = self.scope
        while scope.of_class and scope.parent is not None:
            scope = scope.parent
        known = self.defined.get(id(node))
        generator = known.generator if known else any(map(_yields, ast.iter_child_nodes(node)))
        made = Function(node, scope, self.order if self.since is None else self.since, defaults, generator)
        self.defined.setdefault(id(node), made)
        return made


def _yields(statement: ast.AST) -> bool:
    """Whether a part of a function contains yield, apart from functions and classes defined in it."""
    left = [statement]
    while left:
        node = left.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            left += ast.iter_child_nodes(node)
    return False
