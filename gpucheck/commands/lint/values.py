"""The values and events of a program that the trace records.

Values are compared by identity. Unknown values are ``UNKNOWN``; no rule draws conclusions from them.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from gpucheck.commands.lint.names import canonical

FUNCTION_DEPTH_MAX = 8  # nested calls of functions


class Place(NamedTuple):
    """The order and context of an event."""

    order: int
    path: tuple[tuple[int, int], ...]  # enclosing branches, loops and never called functions, outermost first
    contexts: tuple["Value", ...]  # values that the enclosing with statements enter
    guards: tuple[str, ...]  # exceptions that an enclosing try catches; "" catches all
    loops: int  # the number of enclosing loops
    undone: tuple[tuple[int, int], ...] = ()  # first and last order of events that may not have run before it

    def catches(self, *errors: str) -> bool:
        """Whether an enclosing try catches one of these exceptions, or all of them."""
        return not {"", "Exception", "BaseException", *errors}.isdisjoint(self.guards)


class Value(msgspec.Struct, eq=False):
    """Any value that a name can have."""


class Constant(Value):
    """A literal, and every name it was assigned to."""

    value: Any
    names: set[str] = set()


class Name(Value):
    """An imported object, or a builtin, by its canonical dotted name."""

    path: str


class Items(Value):
    """A list or tuple whose length is known."""

    items: tuple[Value, ...]


class Pairs(Value):
    """A dictionary literal."""

    items: tuple[tuple[Value, Value], ...]


class Gathered(Value):
    """The content of ``*args`` or ``**kwargs`` of a function that only passes it on unchanged."""

    args: tuple[Value, ...]
    keywords: dict[str, Value]


class Element(Value):
    """An element of a value: at a known position, or any element (a loop variable)."""

    of: Value
    index: int | None


class Attribute(Value):
    """An attribute of a value that is not a module."""

    of: Value
    name: str


class Operation(Value):
    """A value computed from others: arithmetic, comparison, a formatted string, a slice."""

    parts: tuple[Value, ...]


class Choice(Value):
    """One of several values, depending on the branch taken."""

    options: tuple[Value, ...]


class Each(Choice):
    """The value of a loop variable: each item of a list literal in turn."""


class Function(Value):
    """A function, method or lambda of this file."""

    node: Any
    closure: "Scope"
    since: int  # the order of its definition; unrecorded calls may follow it
    defaults: dict[str, Value] = {}  # of its parameters
    generator: bool = False
    receiver: Value | None = None
    around: tuple[Value, ...] = ()  # with statements that a decorator may add around its calls

    def bound(self, receiver: Value) -> "Function":
        """Return the function as a method of an object."""
        return msgspec.structs.replace(self, receiver=receiver)


class Class(Value):
    """A class of this file."""

    node: ast.ClassDef
    bases: tuple[Value, ...]
    members: dict[str, Value] = {}
    instance: "Call | None" = None  # the last created instance

    def member(self, name: str) -> Value | None:
        """Return a method or class attribute of the class or its bases."""
        if name in self.members:
            return self.members[name]
        members = (base.member(name) for base in self.bases if isinstance(base, Class))
        return next((value for value in members if value is not None), None)

    def descends(self, accept: Callable[[str], bool]) -> bool:
        """Whether one of its direct or indirect bases is an imported class that ``accept`` accepts."""
        return any(
            (isinstance(base, Name) and accept(base.path)) or (isinstance(base, Class) and base.descends(accept))
            for base in self.bases
        )


UNKNOWN = Value()


class Scope(msgspec.Struct, eq=False):
    """The names of a module, a class or one call of a function."""

    parent: "Scope | None" = None
    names: dict[str, Value] = {}
    of_class: bool = False  # a class body, whose names its methods can't access
    shared: set[str] = set()  # declared global or nonlocal

    def get(self, name: str) -> Value | None:
        """Return the value of a name in this or an enclosing scope."""
        if name in self.names or self.parent is None:
            return self.names.get(name)
        return self.parent.get(name)

    def set(self, name: str, value: Value) -> None:
        """Bind a name here, or in the scope that a global or nonlocal statement selects."""
        scope: Scope = self
        if name in self.shared:
            while scope.parent is not None:
                scope = scope.parent
                if name in scope.names and scope.parent is not None:
                    break
        scope.names[name] = value


class Call(Value):
    """A call that the program makes, and the value that it returns."""

    node: ast.Call
    place: Place
    function: Value
    args: tuple[Value, ...]
    keywords: dict[str, Value]
    starred: bool  # has *args or **kwargs: other arguments may have been passed
    attributes: dict[str, Value] = {}  # the instance's attributes, if a class of this file is called
    entered: bool = False  # whether a with statement enters it
    result: Value | None = None  # the return value of a followed function of this file

    @property
    def name(self) -> str:
        """Return the canonical dotted name of the called function, or ""."""
        return self.function.path if isinstance(self.function, Name) else ""

    @property
    def method(self) -> str:
        """Return the name of the called method, or ""."""
        return self.function.name if isinstance(self.function, Attribute) else ""

    @property
    def receiver(self) -> Value:
        """Return the value whose method is called."""
        return self.function.of if isinstance(self.function, Attribute) else UNKNOWN

    @property
    def given(self) -> tuple[Value, ...]:
        """Return all arguments."""
        return (*self.args, *self.keywords.values())

    def argument(self, name: str, position: int | None = None) -> Value | None:
        """Return an argument by keyword or position; None: not passed, or inside a starred argument."""
        if name in self.keywords:
            return self.keywords[name]
        return self.args[position] if position is not None and position < len(self.args) else None


class Store(NamedTuple):
    """An assignment to an element or an attribute: ``os.environ["A"] = "b"``, ``gpu.memory_limit = 1024``."""

    node: ast.AST
    place: Place
    of: Value
    key: Value
    value: Value


class Read(NamedTuple):
    """An attribute that the program reads, with its whole chain: ``tf.keras.utils.multi_gpu_model``."""

    node: ast.AST
    place: Place
    value: Value


class Import(NamedTuple):
    """A module that is imported, by its canonical name, and the names taken from it."""

    node: ast.AST
    place: Place
    module: str  # spelled as in the file
    names: tuple[str, ...]


class Test(NamedTuple):
    """A condition that the program evaluates, in an if, an assert, a while or an expression."""

    node: ast.expr
    place: Place
    value: Value


Event = Call | Store | Read | Import | Test


def used_by(target: Value | None, outer: tuple[int, ...] = ()) -> Iterator[Value]:
    """Yield the values that a function in this file uses, including those of other functions in this file that it uses.

    ``tf.io.read_file`` is one ``Name``. Yields nothing if the target is not a function of this file.
    """
    if not isinstance(target, Function) or id(target.node) in outer or len(outer) > FUNCTION_DEPTH_MAX:
        return
    for node in ast.walk(target.node):
        value = _resolved(node, target.closure)
        if isinstance(value, Function):
            yield from used_by(value, (*outer, id(target.node)))
        elif value is not None:
            yield value


def _resolved(node: ast.AST, closure: Scope) -> Value | None:
    """Return the value of a name, or the object that a dotted expression such as ``tf.math.add`` names."""
    if isinstance(node, ast.Name):
        return closure.get(node.id)
    of = _resolved(node.value, closure) if isinstance(node, ast.Attribute) else None
    return Name(canonical(f"{of.path}.{node.attr}")) if isinstance(node, ast.Attribute) and isinstance(of, Name) else None
