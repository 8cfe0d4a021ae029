"""The subset of msgspec's ``Struct`` that children use. Importing ``dataclasses`` would take longer than querying the driver.

Only field names are checked here: mypy checks a child's code against msgspec's ``Struct``, and the parent checks messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

AnyStruct = TypeVar("AnyStruct", bound="Struct")
REQUIRED: Any = object()


class _Factory:
    """A default that is created for each object."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def field(*, default_factory: Callable[[], Any]) -> Any:
    """Declare a field with a mutable default, such as a list or a dictionary."""
    return _Factory(default_factory)


class Struct:
    """A class with fields: its annotated names, after those of its base classes."""

    defaults_by_field: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, frozen: bool = False, kw_only: bool = False) -> None:
        """Collect the fields; only mypy and the parent enforce ``frozen`` and ``kw_only``."""
        own = {}
        for base in reversed(cls.__mro__):
            for name, annotation in vars(base).get("__annotations__", {}).items():
                if not annotation.startswith("ClassVar"):
                    own[name] = vars(base).get(name, REQUIRED)
        cls.defaults_by_field = own

    def __init__(self, *values: Any, **named: Any) -> None:
        """Set the fields, by position or by name; raise TypeError like any function."""
        if len(values) > len(self.defaults_by_field):
            raise TypeError(f"{type(self).__name__} has {len(self.defaults_by_field)} fields, not {len(values)}")
        given = {**dict(zip(self.defaults_by_field, values)), **named}
        for name, default in self.defaults_by_field.items():
            value = given.pop(name, default)
            if value is REQUIRED:
                raise TypeError(f"{type(self).__name__} needs {name}")
            setattr(self, name, value.factory() if isinstance(value, _Factory) else value)
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """Hook for classes that convert fields from JSON."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"


def replace(struct: AnyStruct, **changes: Any) -> AnyStruct:
    """Return a copy with some fields changed."""
    return type(struct)(**{**vars(struct), **changes})


def to_builtins(value: Any) -> Any:
    """Convert a value for JSON: a struct becomes a dictionary."""
    if isinstance(value, Struct):
        return {name: to_builtins(item) for name, item in vars(value).items()}
    if isinstance(value, (list, tuple)):
        return [to_builtins(item) for item in value]
    return {key: to_builtins(item) for key, item in value.items()} if isinstance(value, dict) else value
