"""Calls that never return are abandoned, and the others return."""

import math
import threading
import time

import pytest

from gpucheck.core.system.bounded import with_deadline


@pytest.fixture
def never():
    """An event that is not set before the test ends."""
    event = threading.Event()
    yield event
    event.set()


def test_every_item_has_a_result():
    assert with_deadline(math.inf, str.upper, ["a", "b", "a"]) == {"a": "A", "b": "B"}
    assert with_deadline(math.inf, str.upper, []) == {}


@pytest.mark.parametrize("hung", ["a", "b", "ad", "abcd"])
def test_item_that_does_not_return_by_the_deadline_is_omitted(never, hung):
    def work(item):
        if item in hung:
            never.wait()
        return item.upper()

    assert with_deadline(time.monotonic() + 3, work, "abcd") == {item: item.upper() for item in "abcd" if item not in hung}


def test_exceptions_of_the_function_are_raised():
    with pytest.raises(ZeroDivisionError):
        with_deadline(math.inf, lambda item: 1 / item, [1, 0])
