"""What a run waits for at this moment."""

from typing import NamedTuple


class Activity(NamedTuple):
    """A child process at work."""

    child: str  # what it does: "nvml", "framework", "bench"
    stage: str  # "import", "train"
    job: str = ""  # which one of them: "one_device GPU:0 float32"
    step: str = ""  # a part of it: "first step"
    ended: int = 0  # how many of that stage are over
    planned: int | None = None  # of how many; None: unknown
