"""What the trace knows about the values of a program, and what it saw the program do.

Values are compared by identity. Whatever is not known is ``UNKNOWN``, from which no rule concludes anything.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple


class Place(NamedTuple):
    """When and under which circumstances something happens."""

    order: int
    path: tuple[tuple[int, int], ...]  # the branches, loops and never called functions that it is inside of, outermost first
    contexts: tuple["Value", ...]  # of the with statements around it
    guards: tuple[str, ...]  # exceptions that a try around it catches; "" catches all
    loops: int  # how many loops are around it
    undone: tuple[tuple[int, int], ...] = ()  # first and last order of what may not have been done on the way to here

    def catches(self, *errors: str) -> bool:
        """Whether a try around it catches one of these exceptions, or all of them."""
        return not {"", "Exception", "BaseException", *errors}.isdisjoint(self.guards)


class Value:
    """Anything a name can stand for."""


@dataclass(eq=False)
class Constant(Value):
    """A literal, and every name it was given."""

    value: Any
    names: set[str] = field(default_factory=set)


@dataclass(eq=False)
class Name(Value):
    """Something imported, or a builtin, by its canonical dotted name."""

    path: str


@dataclass(eq=False)
class Items(Value):
    """A list or tuple whose length is known."""

    items: tuple[Value, ...]


@dataclass(eq=False)
class Pairs(Value):
    """A dictionary that is written out."""

    items: tuple[tuple[Value, Value], ...]


@dataclass(eq=False)
class Gathered(Value):
    """What a function's ``*args`` or ``**kwargs`` gathered, where the function only passes it on as it is."""

    args: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass(eq=False)
class Element(Value):
    """An element of something: at a known position, or any (a loop's variable)."""

    of: Value
    index: int | None


@dataclass(eq=False)
class Attribute(Value):
    """An attribute of a value that is not a module."""

    of: Value
    name: str


@dataclass(eq=False)
class Operation(Value):
    """Computed from other values: arithmetic, comparison, a formatted string, a slice."""

    parts: tuple[Value, ...]


@dataclass(eq=False)
class Choice(Value):
    """One of several, depending on a branch that was or was not taken."""

    options: tuple[Value, ...]


class Each(Choice):
    """What a loop's variable is bound to: one after the other of the items of a list that is written out."""


@dataclass(eq=False)
class Function(Value):
    """A function, method or lambda of this file."""

    node: Any
    closure: "Scope"
    since: int  # the order at which it is defined: who calls it unseen may do so from then on
    receiver: Value | None = None
    around: tuple[Value, ...] = ()  # with statements that a decorator may have put around every call of it

    def bound(self, receiver: Value) -> "Function":
        """The same as a method of an object."""
        return replace(self, receiver=receiver)


@dataclass(eq=False)
class Class(Value):
    """A class of this file."""

    node: ast.ClassDef
    bases: tuple[Value, ...]
    members: dict[str, Value] = field(default_factory=dict)
    instance: "Call | None" = None  # the one made last

    def member(self, name: str) -> Value | None:
        """A method or class attribute, its bases' included."""
        if name in self.members:
            return self.members[name]
        members = (base.member(name) for base in self.bases if isinstance(base, Class))
        return next((value for value in members if value is not None), None)

    def descends(self, accept: Callable[[str], bool]) -> bool:
        """Whether one of its bases, however far up, is an imported class that is accepted."""
        return any(
            (isinstance(base, Name) and accept(base.path)) or (isinstance(base, Class) and base.descends(accept))
            for base in self.bases
        )


UNKNOWN = Value()


class Scope:
    """The names of a module, a class or one call of a function."""

    def __init__(self, parent: "Scope | None" = None, names: dict[str, Value] | None = None) -> None:
        self.parent = parent
        self.names = names if names is not None else {}
        self.of_class = False  # a class' body, whose names its methods don't see
        self.shared: set[str] = set()  # declared global or nonlocal

    def get(self, name: str) -> Value | None:
        """The value of a name, looked up outwards."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def set(self, name: str, value: Value) -> None:
        """Bind a name here, or where it was declared to live."""
        scope: Scope = self
        if name in self.shared:
            while scope.parent is not None:
                scope = scope.parent
                if name in scope.names and scope.parent is not None:
                    break
        scope.names[name] = value


@dataclass(eq=False)
class Call(Value):
    """A call that the program makes, and the value that it returns."""

    node: ast.Call
    place: Place
    function: Value
    args: tuple[Value, ...]
    keywords: dict[str, Value]
    starred: bool  # *args or **kwargs: what is not listed may still have been passed
    attributes: dict[str, Value] = field(default_factory=dict)  # of the instance that a class of this file made
    entered: bool = False  # by a with statement
    result: Value | None = None  # of a function of this file that was followed

    @property
    def name(self) -> str:
        """Canonical dotted name of what is called, or ""."""
        return self.function.path if isinstance(self.function, Name) else ""

    @property
    def method(self) -> str:
        """The attribute of a value that is called, or ""."""
        return self.function.name if isinstance(self.function, Attribute) else ""

    @property
    def receiver(self) -> Value:
        """The value whose method is called."""
        return self.function.of if isinstance(self.function, Attribute) else UNKNOWN

    def argument(self, name: str, position: int | None = None) -> Value | None:
        """An argument by keyword or position; None: not passed (or hidden in a starred one)."""
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
    module: str  # as the file writes it
    names: tuple[str, ...]


class Test(NamedTuple):
    """A condition that the program looks at, in an if, an assert, a while or an expression."""

    node: ast.expr
    place: Place
    value: Value


Event = Call | Store | Read | Import | Test
