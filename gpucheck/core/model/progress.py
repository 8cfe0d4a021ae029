"""What a run currently waits for, and its partial result, for the thread that ends the run at its time limit."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

Result = TypeVar("Result")


class Progress(Generic[Result]):
    """The partial result of a run. The run sets ``snapshot``; any thread may call it at any time."""

    def __init__(self) -> None:
        """Start without a result: the snapshot is None."""
        self.snapshot: Callable[[], Result | None] = lambda: None


class Activity(NamedTuple):
    """The current work of a child process."""

    child: str  # what it does: "nvml", "framework", "bench"
    stage: str  # "import", "train"
    job: str = ""  # "one_device GPU:0 float32"
    step: str = ""  # a part of the job: "first step"
    ended: int = 0  # how many of that stage have ended
    planned: int | None = None  # how many there will be; None: unknown
