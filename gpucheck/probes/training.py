"""The proof: what a short training job on each device and with each strategy lived through, in child processes."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level, TrainingRun
from gpucheck.plugin import probe


class Training(Fact, frozen=True, kw_only=True):
    """Training runs in the order they were tried."""

    runs: tuple[TrainingRun, ...] = ()
    ending: str | None = None  # how the child ended if it did not finish: "timed out", "killed by SIGSEGV"
    stage: str | None = None  # the stage it was in then


@probe(level=Level.DEFAULT, smoke=True)
def read(host: Host) -> Training:
    """Plan the runs from what the drivers said, hand the plan to the framework child, and collect what it measured."""
    raise NotImplementedError
