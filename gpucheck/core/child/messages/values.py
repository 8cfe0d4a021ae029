"""Classes of fields, written as dataclasses are. Importing ``dataclasses`` takes a child longer than asking the driver does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import dataclass_transform

AnyValues = TypeVar("AnyValues", bound="Values")
REQUIRED: Any = object()


class _Made:
    """A default that is made for each object."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def field(*, default_factory: Callable[[], Any]) -> Any:
    """A field with a default that may change: a list, a dictionary, other values."""
    return _Made(default_factory)


if not TYPE_CHECKING:

    def dataclass_transform(**_):
        """What type checkers read."""
        return lambda kind: kind


@dataclass_transform(field_specifiers=(field,))
class Values:
    """What has fields: the annotated names of a class, after those of the classes before it."""

    defaults_by_field: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        own = {}
        for base in reversed(cls.__mro__):
            for name, annotation in vars(base).get("__annotations__", {}).items():
                if not annotation.startswith("ClassVar"):
                    own[name] = vars(base).get(name, REQUIRED)
        cls.defaults_by_field = own

    if not TYPE_CHECKING:

        def __init__(self, *values, **named):
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


def replace(values: AnyValues, **changes: Any) -> AnyValues:
    """The same, but for some fields."""
    return type(values)(**{**vars(values), **changes})


def fields_of(values: Values) -> dict[str, Any]:
    """The fields of a message, a task or a part of one, as JSON takes them."""
    return {name: _plain(value) for name, value in vars(values).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Values):
        return fields_of(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
