"""A child's plain structs behave like msgspec's, which replace them in the parent and in most tests."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import pytest

from gpucheck.core.child.messages import plain, struct


@pytest.fixture(params=[struct, plain], ids=["msgspec", "plain"])
def whole(request):
    """A struct with a required field, a part, a default created for each object, and a property; and its functions."""
    base, field = request.param.Struct, request.param.field

    class Part(base, frozen=True, kw_only=True):
        name: str
        size: int | None = None

    class Message(base):
        stage: ClassVar[str] = "whole"

    class Whole(Message):
        count: int
        parts: tuple[Part, ...] = ()
        entries: list[int] = field(default_factory=list)

        @property
        def double(self) -> int:
            return 2 * self.count

    Whole.part, Whole.handled = Part, request.param
    return Whole


def test_struct_is_created_and_compared(whole):
    made = whole(3, entries=[1])
    assert (made.count, made.parts, made.entries, made.double, made.stage) == (3, (), [1], 6, "whole")
    assert made == whole(count=3, entries=[1])
    assert made != whole(count=4, entries=[1])
    assert whole(1).entries is not whole(1).entries


@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, (), [], 2), {}), ((1,), {"color": "red"})])
def test_invalid_fields_are_a_type_error(whole, values, named):
    with pytest.raises(TypeError):
        whole(*values, **named)


def test_fields_of_a_struct_are_replaced(whole):
    made = whole(3, entries=[1])
    assert whole.handled.replace(made, count=4) == whole(4, entries=[1])
    with pytest.raises(TypeError):
        whole.handled.replace(made, color="red")


def test_json_has_the_fields_and_not_the_class_variables(whole):
    made = whole(3, (whole.part(name="one"), whole.part(name="two", size=2)))
    as_json = msgspec.json.decode(msgspec.json.encode(whole.handled.to_builtins(made)))
    assert as_json == {"count": 3, "parts": [{"name": "one", "size": None}, {"name": "two", "size": 2}], "entries": []}
