"""Follow a program in execution order, without running it, and record its events.

Functions defined in the file are followed at each call, so that a model built by ``make_model()`` inside a ``with`` is
recorded there. All branches are followed and their results merged; a loop's body is followed once; functions that the file
never calls are followed at the end with unknown arguments.
"""

import ast
import functools
from collections.abc import Callable, Mapping
from typing import Any

from gpucheck.commands.lint.calls import Caller
from gpucheck.commands.lint.combine import each, merge
from gpucheck.commands.lint.lookup import constant, options
from gpucheck.commands.lint.names import canonical
from gpucheck.commands.lint.state import State
from gpucheck.commands.lint.values import UNKNOWN, Call, Class, Constant, Function, Import, Items, Name, Operation, Value

LEAVES = {"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"}
STATEMENTS_MAX = 400_000


def trace(tree: ast.Module, names: Mapping[str, str]) -> State:
    """Follow a module, then the functions that it never calls.

    ``names`` maps names that the module does not bind to their meanings.

    Raises:
        RecursionError: the module is nested too deeply.
    """
    tracer = _Tracer()
    for name, meaning in names.items():
        tracer.scope.set(name, Name(meaning))
    tracer.block(tree.body)
    while left := [function for key, function in tracer.defined.items() if key not in tracer.followed]:
        for function in left:
            tracer.root(function)
    return tracer


class _Tracer(Caller):
    def root(self, function: Function) -> None:
        """Follow a function that other code may call, with unknown arguments and context.

        It may run before the rest of the module: in a thread, through map(), in a class that creates itself.
        """
        made = function.receiver
        if isinstance(made, Call) and isinstance(made.function, Class) and made.function.instance is not None:
            function = function.bound(made.function.instance)
        with self.within(path=((id(function.node), -1),), since=function.since, undone=((function.since + 1, self.order),)):
            self.follow(function, None)

    # Statements -------------------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> bool:
        """Follow statements; return whether one of them leaves the block (return, raise, break, sys.exit)."""
        return any(self.statement(statement) for statement in statements)

    def statement(self, node: ast.stmt) -> bool:
        """Follow one statement."""
        self.steps += 1
        if self.steps > STATEMENTS_MAX:
            self.complete = False
            return True
        handler = getattr(self, "_on_" + type(node).__name__, self._visit_others)
        return handler(node) is True  # others return nothing, or a value

    def _on_Expr(self, node: ast.Expr) -> bool:
        value = self.value(node.value)
        return isinstance(value, Call) and (value.name in LEAVES or value.name.startswith("os.exec"))

    def _on_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.events.append(Import(node, self.place(), alias.name, ()))
            bound = alias.name if alias.asname else alias.name.partition(".")[0]
            self.scope.set(alias.asname or bound, Name(canonical(bound)))

    def _on_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.events.append(Import(node, self.place(), module, tuple(alias.name for alias in node.names)))
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                self.scope.set(alias.asname or alias.name, Name(canonical(f"{module}.{alias.name}")))

    def _on_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _on_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value))

    def _on_AugAssign(self, node: ast.AugAssign) -> None:
        old = self.value(node.target)  # the old value is read first
        new = self.value(node.value)
        joined = isinstance(old, Items) and isinstance(new, Items) and isinstance(node.op, ast.Add)
        self.bind(node.target, Items(old.items + new.items) if joined else Operation((old, new)))  # type: ignore[attr-defined]

    def _on_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.shared.update(node.names)

    _on_Nonlocal = _on_Global

    def _on_If(self, node: ast.If) -> bool:
        ways: list[list[ast.stmt]] = []
        left: list[ast.stmt] = [node]
        while len(left) == 1 and isinstance(left[0], ast.If):  # a long elif chain must not recurse
            test = self.test(left[0].test)
            condition = constant(test)
            if isinstance(condition, int) and not ways:
                return self.block(left[0].body if condition else left[0].orelse)
            self.conditions.setdefault(id(node), test)
            ways.append(left[0].body)
            left = left[0].orelse
        return self.branches(node, [*ways, left])

    def _on_Match(self, node: Any) -> bool:
        self.value(node.subject)
        return self.branches(node, [[], *(case.body for case in node.cases)])

    def branches(self, node: ast.AST, ways: list[list[ast.stmt]]) -> bool:
        """Follow each branch, and merge the names of those that do not leave the block."""
        start = self.scope.names
        returned = len(self.frames[-1].returns) if self.frames else 0
        ends = []
        for arm, way in enumerate(ways):
            self.scope.names = dict(start)
            with self.branch(node, arm):
                if not self.block(way):
                    ends.append(self.scope.names)
        if ends and self.frames and len(self.frames[-1].returns) > returned and self.frames[-1].left is None:
            self.frames[-1].left = self.order
        self.rejoin(start, ends)
        return not ends

    def rejoin(self, start: dict[str, Value], ends: list[dict[str, Value]]) -> None:
        """Continue with the merged names of several branches. The dictionary stays the same object, because closures hold it."""
        merged: dict[str, Value] = functools.reduce(_joined, ends or [start], {})
        start.clear()
        start.update(merged)
        self.scope.names = start

    def _on_For(self, node: ast.For | ast.AsyncFor) -> None:
        iterated = self.value(node.iter)
        self.loop(node, lambda: self.bind(node.target, each(iterated)))

    _on_AsyncFor = _on_For

    def _on_Assert(self, node: ast.Assert) -> None:
        self.test(node.test)

    def _on_While(self, node: ast.While) -> bool:
        self.test(node.test)
        self.loop(node, lambda: None)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return endless and not any(isinstance(inner, (ast.Break, ast.Return)) for inner in ast.walk(node))

    def loop(self, node: Any, begin: Callable[[], None]) -> None:
        """Follow a loop's body once, then merge with the names of a loop that did not run."""
        start = self.scope.names
        self.scope.names = dict(start)
        with self.branch(node, 0), self.within(loops=self.loops + 1):
            begin()
            self.block(node.body)
        self.rejoin(start, [dict(start), self.scope.names])
        self.block(node.orelse)

    def _on_Try(self, node: Any) -> bool:
        caught = [name for handler in node.handlers for name in self.caught(handler)]
        start, undone = self.scope.names, self.undone
        before, begin = dict(start), self.order
        with self.within(guards=(*self.guards, *caught)):
            left = self.block(node.body)
        failed = (*undone, (begin + 1, self.order))
        left = left or self.block(node.orelse)
        ends = [] if left else [dict(self.scope.names)]
        half = _joined(before, self.scope.names)
        for arm, handler in enumerate(node.handlers):
            self.scope.names, self.undone = dict(half), failed
            if handler.name:
                self.scope.set(handler.name, UNKNOWN)
            with self.branch(node, arm):
                if not self.block(handler.body):
                    ends.append(self.scope.names)
        self.undone = undone
        self.rejoin(start, ends)
        return self.block(node.finalbody) or not ends

    _on_TryStar = _on_Try

    def caught(self, handler: ast.ExceptHandler) -> list[str]:
        """Return the names of the exceptions that a handler catches, without their modules; "" for all."""
        if handler.type is None:
            return [""]
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        return [ast.unparse(kind).rpartition(".")[2] for kind in kinds]

    def _on_With(self, node: ast.With | ast.AsyncWith) -> bool:
        with self.within(contexts=self.contexts):
            for item in node.items:
                value = self.value(item.context_expr)
                for option in options(value):
                    if isinstance(option, Call):
                        option.entered = True
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, value)
                self.contexts = (*self.contexts, value)
            return self.block(node.body)

    _on_AsyncWith = _on_With

    def _on_Return(self, node: ast.Return) -> bool:
        value = self.value(node.value) if node.value is not None else Constant(None)
        if self.frames:
            self.frames[-1].returns.append(value)
        return True

    def _on_Raise(self, node: ast.Raise | ast.Break | ast.Continue) -> bool:
        self._visit_others(node)
        return True

    _on_Break = _on_Continue = _on_Raise


def _joined(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    return {name: merge(first.get(name), second.get(name)) for name in {**first, **second}}
