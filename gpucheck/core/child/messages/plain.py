"""As much of msgspec's ``Struct`` as children use. Importing ``dataclasses`` takes a child longer than asking the driver does.

Nothing is checked here but the names of fields: mypy checks a child's code against msgspec's own, and the parent what comes in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

AnyStruct = TypeVar("AnyStruct", bound="Struct")
REQUIRED: Any = object()


class _Made:
    """A default that is made for each object."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def field(*, default_factory: Callable[[], Any]) -> Any:
    """A field with a default that may change: a list, a dictionary, other values."""
    return _Made(default_factory)


class Struct:
    """What has fields: the annotated names of a class, after those of the classes before it."""

    defaults_by_field: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, frozen: bool = False, kw_only: bool = False) -> None:
        """Collect the fields; that they are frozen or given by keyword is for mypy, and for the parent."""
        own = {}
        for base in reversed(cls.__mro__):
            for name, annotation in vars(base).get("__annotations__", {}).items():
                if not annotation.startswith("ClassVar"):
                    own[name] = vars(base).get(name, REQUIRED)
        cls.defaults_by_field = own

    def __init__(self, *values: Any, **named: Any) -> None:
        """The fields, by position or by name; TypeError as for any function."""
        if len(values) > len(self.defaults_by_field):
            raise TypeError(f"{type(self).__name__} has {len(self.defaults_by_field)} fields, not {len(values)}")
        given = {**dict(zip(self.defaults_by_field, values)), **named}
        for name, default in self.defaults_by_field.items():
            value = given.pop(name, default)
            if value is REQUIRED:
                raise TypeError(f"{type(self).__name__} needs {name}")
            setattr(self, name, value.factory() if isinstance(value, _Made) else value)
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """For a class whose fields come as JSON has them."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"


def replace(struct: AnyStruct, **changes: Any) -> AnyStruct:
    """The same, but for some fields."""
    return type(struct)(**{**vars(struct), **changes})


def to_builtins(value: Any) -> Any:
    """A value as JSON takes it: the fields of a struct as a dictionary."""
    if isinstance(value, Struct):
        return {name: to_builtins(item) for name, item in vars(value).items()}
    if isinstance(value, (list, tuple)):
        return [to_builtins(item) for item in value]
    return {key: to_builtins(item) for key, item in value.items()} if isinstance(value, dict) else value
