"""The partial result of a run, for the thread that ends the run at its time limit."""

from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Progress(Generic[Result]):
    """The partial result of a run. The run sets ``snapshot``; any thread may call it at any time."""

    def __init__(self) -> None:
        """Start without a result: the snapshot is None."""
        self.snapshot: Callable[[], Result | None] = lambda: None
