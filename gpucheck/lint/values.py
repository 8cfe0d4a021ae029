"""What the trace knows about the values of a program, and what it saw the program do.

Values are compared by identity. Whatever is not known is ``UNKNOWN``, from which no rule concludes anything.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

MOST_OPTIONS = 8  # a value that may be more things than this is unknown


class Place(NamedTuple):
    """When and under which circumstances something happens."""

    order: int
    path: tuple[tuple[int, int], ...]  # the branches, loops and never called functions that it is inside of, outermost first
    contexts: tuple["Value", ...]  # of the with statements around it
    guards: tuple[str, ...]  # exceptions that a try around it catches; "" catches all
    loops: int  # how many loops are around it
    undone: tuple[tuple[int, int], ...] = ()  # first and last order of what may not have been done on the way to here


class Value:
    """Anything a name can stand for."""


class Constant(Value):
    """A literal, and every name it was given."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.names: set[str] = set()


class Name(Value):
    """Something imported, or a builtin, by its canonical dotted name."""

    def __init__(self, path: str) -> None:
        self.path = path


class Items(Value):
    """A list or tuple whose length is known."""

    def __init__(self, items: tuple[Value, ...]) -> None:
        self.items = items


class Pairs(Value):
    """A dictionary that is written out."""

    def __init__(self, items: tuple[tuple[Value, Value], ...]) -> None:
        self.items = items


class Handed(Value):
    """What a function's ``*args`` or ``**kwargs`` gathered, where the function only passes it on as it is."""

    def __init__(self, args: tuple[Value, ...], keywords: dict[str, Value]) -> None:
        self.args = args
        self.keywords = keywords


class Element(Value):
    """An element of something: at a known position, or any (a loop's variable)."""

    def __init__(self, of: Value, index: int | None) -> None:
        self.of = of
        self.index = index


class Attribute(Value):
    """An attribute of a value that is not a module."""

    def __init__(self, of: Value, name: str) -> None:
        self.of = of
        self.name = name


class Operation(Value):
    """Computed from other values: arithmetic, comparison, a formatted string, a slice."""

    def __init__(self, parts: tuple[Value, ...]) -> None:
        self.parts = parts


class Choice(Value):
    """One of several, depending on a branch that was or was not taken."""

    def __init__(self, options: tuple[Value, ...]) -> None:
        self.options = options


class Each(Choice):
    """What a loop's variable is bound to: one after the other of the items of a list that is written out."""


class Function(Value):
    """A function, method or lambda of this file."""

    def __init__(
        self, node: Any, closure: "Scope", since: int, receiver: Value | None = None, around: tuple[Value, ...] = ()
    ) -> None:
        self.node = node
        self.closure = closure
        self.since = since  # the order at which it is defined: who calls it unseen may do so from then on
        self.receiver = receiver
        self.around = around  # with statements that a decorator may have put around every call of it

    def bound(self, receiver: Value) -> "Function":
        """The same as a method of an object."""
        return Function(self.node, self.closure, self.since, receiver, self.around)


class Class(Value):
    """A class of this file."""

    def __init__(self, node: ast.ClassDef, bases: tuple[Value, ...]) -> None:
        self.node = node
        self.bases = bases
        self.members: dict[str, Value] = {}
        self.instance: Call | None = None  # the one made last

    def member(self, name: str) -> Value | None:
        """A method or class attribute, its bases' included."""
        if name in self.members:
            return self.members[name]
        found = (base.member(name) for base in self.bases if isinstance(base, Class))
        return next((value for value in found if value is not None), None)

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


class Call(Value):
    """A call that the program makes, and the value that it returns."""

    def __init__(
        self, node: ast.Call, place: Place, function: Value, args: tuple[Value, ...], keywords: dict[str, Value], starred: bool
    ) -> None:
        self.node = node
        self.place = place
        self.function = function
        self.args = args
        self.keywords = keywords
        self.starred = starred  # *args or **kwargs: what is not listed may still have been passed
        self.attributes: dict[str, Value] = {}  # of the instance that a class of this file made
        self.entered = False  # by a with statement
        self.result: Value | None = None  # of a function of this file that was followed

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


def options(value: Value | None) -> Iterator[Value]:
    """Every value that it may stand for."""
    if isinstance(value, Choice):
        for option in value.options:
            yield from options(option)
    elif value is not None:
        yield value


def parts(value: Value | None, more: Callable[[Value], Iterable[Value]] = lambda one: ()) -> Iterator[Value]:
    """A value and everything it was computed from by operators, attributes and elements, each once; ``more`` adds to that."""
    seen: set[int] = set()
    left = list(options(value))
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner: tuple[Value, ...] = ()
        if isinstance(one, Operation):
            inner = one.parts
        elif isinstance(one, Items):
            inner = one.items
        elif isinstance(one, Pairs):
            inner = tuple(part for pair in one.items for part in pair)
        elif isinstance(one, (Element, Attribute)):
            inner = (one.of,)
        left += [option for part in (*inner, *more(one)) for option in options(part)]


def constant(value: Value | None) -> Any:
    """The literal that it certainly is, else None."""
    return value.value if isinstance(value, Constant) else None


def loose(place: Place) -> bool:
    """Whether it is in a function that nobody in the file calls: who does, when and where is not known."""
    return bool(place.path) and place.path[0][1] == -1


def earlier(first: Place, second: Place) -> bool:
    """Whether the first, if it happens at all, has happened when the second does."""
    return first.order < second.order and not any(begin <= first.order <= end for begin, end in second.undone)


def before(first: Place, second: Place) -> bool:
    """Whether the first has certainly happened when the second does."""
    return earlier(first, second) and first.path == second.path[: len(first.path)]


def merge(first: Value | None, second: Value | None) -> Value:
    """One of the two; a name that is bound on one way only is what it is there."""
    if first is second or second is None:
        return first or UNKNOWN
    if first is None:
        return second
    found: dict[int, Value] = {id(option): option for way in (first, second) for option in options(way)}
    if len(found) > MOST_OPTIONS:
        return UNKNOWN
    return Choice(tuple(found.values())) if len(found) > 1 else next(iter(found.values()))
