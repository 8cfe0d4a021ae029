"""What a run currently waits for."""

from typing import NamedTuple


class Activity(NamedTuple):
    """The current work of a child process."""

    child: str  # what it does: "nvml", "framework", "bench"
    stage: str  # "import", "train"
    job: str = ""  # "one_device GPU:0 float32"
    step: str = ""  # a part of the job: "first step"
    ended: int = 0  # how many of that stage have ended
    planned: int | None = None  # how many there will be; None: unknown
