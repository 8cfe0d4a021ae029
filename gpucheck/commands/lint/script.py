"""A parsed program and what the trace saw it do: everything that a rule is handed."""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gpucheck.commands.lint.lookup import options, parts
from gpucheck.commands.lint.trace import trace
from gpucheck.commands.lint.values import Call, Class, Event, Import, Name, Read, Store, Value


class Finding(NamedTuple):
    """One place that a rule found: in the lines of the whole program, first line and column 1; columns count bytes of UTF-8."""

    line: int
    column: int
    end_line: int
    end_column: int  # behind the last one
    message: str  # a sentence
    fix: str  # what to do


class Script:
    """One program: the events in the order in which they would happen."""

    def __init__(
        self,
        tree: ast.Module,
        locate: Callable[[int], tuple[int | None, int]] = lambda line: (None, line),
        written: str = "",
    ) -> None:
        """Follow the program; ``locate`` finds the cell of a notebook that a line stands in.

        ``written`` is all that stands in the file, for what comments and shell commands say.

        Raises:
            RecursionError: it is nested too deeply.
        """
        self._locate = locate
        self._tree = tree
        self.written = written
        self.notebook = locate(1)[0] is not None
        traced = trace(tree)
        self.events = traced.events
        self.complete = traced.complete
        self._tests = traced.tests
        self._named: dict[str, list[Call]] = {}
        self._methods: dict[str, list[Call]] = {}
        self.names = frozenset(_names(self.events))  # of everything imported that is read or called
        self.calls = [event for event in self.events if isinstance(event, Call)]
        self.stores = [event for event in self.events if isinstance(event, Store)]
        self.reads = [event for event in self.events if isinstance(event, Read)]
        self.imports = [event for event in self.events if isinstance(event, Import)]
        for call in self.calls:
            self._named.setdefault(call.name, []).append(call)
            self._methods.setdefault(call.method, []).append(call)

    def where(self, node: ast.AST) -> str:
        """Where a node stands, in the words of a message."""
        cell, line = self._locate(getattr(node, "lineno", 1))
        return f"line {line}" if cell is None else f"cell {cell}, line {line}"

    def named(self, *names: str) -> list[Call]:
        """Calls of these canonical names."""
        return _in_order(self._named, names)

    def methods(self, *names: str) -> list[Call]:
        """Calls of methods of these names on a value that is not a module."""
        return _in_order(self._methods, names)

    def conditions(self, steps: Iterable[tuple[int, int]]) -> list[Value | None]:
        """What has to be true for each step of a place's path; None where that is not known: no if, or not its first way."""
        return [self._tests[step].value if step in self._tests and step[1] == 0 else None for step in steps]

    def modules(self) -> set[str]:
        """Top-level modules that are imported."""
        return {event.module.partition(".")[0] for event in self.imports}

    def written_out(self) -> Iterator[ast.AST]:
        """Every node of the program, for what only has to stand there: a key, a literal."""
        return ast.walk(self._tree)

    def mentions(self, *names: str) -> bool:
        """Whether any of these canonical names is read or called anywhere."""
        return not self.names.isdisjoint(names)

    def passed_on(self, value: Value) -> bool:
        """Whether a value is an argument of a call that could not be followed, or is stored where it can't be."""
        for event in self.events:
            if isinstance(event, Call) and event.result is None and event.name not in HARMLESS:
                given = (*event.args, *event.keywords.values())
                if any(id(value) in held(argument) for argument in given):
                    return True
            elif isinstance(event, Store) and id(value) in held(event.value) and _escapes(event.of):
                return True
        return False


def _in_order(index: dict[str, list[Call]], names: tuple[str, ...]) -> list[Call]:
    calls = [call for name in names for call in index.get(name, ())]
    return sorted(calls, key=lambda call: call.place.order) if len(names) > 1 else calls


def _names(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Call):
            yield event.name
        elif isinstance(event, Read):
            yield from (option.path for option in options(event.value) if isinstance(option, Name))
        elif isinstance(event, Import):
            yield event.module
            yield from (f"{event.module}.{name}" for name in event.names)


def _escapes(holder: Value) -> bool:
    """Whether somebody else may use what is stored there: all but an object whose class, with its bases, is in this file."""
    made = holder.function if isinstance(holder, Call) else None
    return not isinstance(made, Class) or made.descends(lambda base: not base.startswith(("keras.", "builtins.")))


HARMLESS = {
    "builtins.print",
    "builtins.str",
    "builtins.repr",
    "builtins.type",
    "builtins.isinstance",
    "builtins.id",
    "builtins.len",
}


def held(value: Value) -> set[int]:
    """Identities of a value and of what it holds or was computed from."""
    return {id(part) for part in parts(value)}


def at(node: ast.AST, message: str, fix: str) -> Finding:
    """A finding where a node stands."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line, end_column = getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
    return Finding(line, column + 1, end_line, end_column + 1, message, fix)
