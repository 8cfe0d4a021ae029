"""Query NVIDIA's driver through NVML or libcuda in a child process, for the probes of both.

A child that could not be started, or failed because of a bug in gpucheck, shows nothing about the driver: the probe fails.
"""

from collections.abc import Callable

import msgspec
from msgspec.structs import asdict

from gpucheck.core.child.messages import Crashed, Message, Stage
from gpucheck.core.child.messages.drivers import LibraryLoaded, Outcome
from gpucheck.core.compat import versions
from gpucheck.core.host import LATE, Child, Ending, Host
from gpucheck.core.model import Fact

SILENCE_SECONDS = 12.0  # without an answer, so that every level reports a driver that hangs within 15 s
CONCLUSIVE_SECONDS = 4.0  # a shorter timeout is inconclusive: without persistence mode, nvmlInit first starts every GPU
CRASHES = tuple(f"killed by {name}" for name in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT"))  # others are sent to it


class DriverAnswer(Fact, frozen=True, kw_only=True):
    """The driver's answer: the first fields of the facts ``driver`` and ``cuda``."""

    status: str
    result: int | None = None  # nvmlReturn_t or CUresult of the call that failed; CUDA's 100: no device
    result_name: str | None = None  # "NVML_ERROR_DRIVER_NOT_LOADED", "CUDA_ERROR_NO_DEVICE"
    problem: str | None = None  # the message of the loader or of NVML, or how the child ended and in which stage
    library: str | None = None  # path of the libnvidia-ml.so.1 or libcuda.so.1 that was loaded


class DriverQuery(msgspec.Struct, frozen=True):
    """The child that queried the driver, and the driver's answer."""

    child: Child
    answer: DriverAnswer
    stopped_in: Stage | None = None  # the stage it crashed or hung in


def longest_silence(host: Host) -> float:
    """Return how many seconds a call may take: less than the remaining time, so that "hung" is reported before the run times out.

    All calls together may take the remaining time: without persistence mode, the first query of each GPU takes seconds.
    """
    return min(SILENCE_SECONDS, host.remaining() * 0.8)


def query_driver(
    child: Child,
    activities: dict[str, str],
    kinds: tuple[type[Message], ...],
    silence: float,
    longer: Callable[[], float] | None = None,
) -> DriverQuery:
    """Wait until the child ends, or has not responded for too long.

    Args:
        child: the child process that queries the driver.
        activities: descriptions of its stages by name: {"init": "in nvmlInit"}.
        kinds: messages that hold the driver's failure, if it fails.
        silence: seconds without a response after which the driver is reported as hung.
        longer: returns how many seconds to wait if the driver was slow in other queries.

    Raises:
        RuntimeError: the query failed or timed out for a reason other than the driver.
    """
    ending, loaded = child.end(silence, longer), child.message(LibraryLoaded)
    seconds = silence if ending.silent_seconds is None else ending.silent_seconds
    if child.message(Crashed) is not None or ending.how.startswith(("not started", "stopped")):
        raise RuntimeError(f"the driver could not be queried: {ending.how}")
    if not ending.ok and not ending.late and ending.stage is None:  # it was in no call to the driver
        when = "before it opened any library" if loaded is None else "between stages"
        raise RuntimeError(f"the driver could not be queried: {_end_in_words(child, ending.how, when, seconds)}")
    stage = ending.stage
    where = "between stages" if stage is None else activities.get(stage.name, f"in the stage {stage}").format(job=stage.job)
    if (why := too_early(ending, silence)) is not None:
        raise RuntimeError(f"no response within {seconds:.2g} s {where}: {why}")
    if ending.late and seconds < max(CONCLUSIVE_SECONDS, longer() if longer is not None else 0.0):
        raise RuntimeError(f"timed out {where}: the driver is slow, but it responds; --timeout allows more")
    library = None if loaded is None else loaded.library
    if ending.how.startswith("killed by") and ending.how not in CRASHES:
        why = ", most often because main memory ran out" if ending.how == "killed by SIGKILL" else ""
        raise RuntimeError(f"{ending.how} {where}{why}")
    if not ending.ok:
        status = "hung" if ending.late else "crashed"
        problem = _end_in_words(child, ending.how, where, seconds)
        return DriverQuery(child, DriverAnswer(status=status, problem=problem, library=library), stage)
    return DriverQuery(child, _answer(child, kinds, loaded))


def _answer(child: Child, kinds: tuple[type[Message], ...], loaded: LibraryLoaded | None) -> DriverAnswer:
    """Return the answer that a completed child received."""
    if loaded is None:
        return DriverAnswer(status="failed")
    if loaded.status != "loaded":
        return DriverAnswer(status=loaded.status, problem=loaded.problem, library=loaded.library)
    for kind in kinds:
        outcome = child.message(kind)
        if isinstance(outcome, Outcome) and outcome.failure.result:
            return DriverAnswer(status="failed", **asdict(outcome.failure), library=loaded.library)
    return DriverAnswer(status="ok", library=loaded.library)


def too_early(ending: Ending, seconds: float) -> str | None:
    """Return why a timeout of this child does not prove a fault of the driver; None if it does."""
    if not ending.late:
        return None
    if ending.starved:
        return "the process got no CPU time"
    if ending.stage is not None and ending.stage.name == LibraryLoaded.stage:
        return "no call to the driver was made, so the file system is slow"
    return "too short to blame the driver" if ending.stage is None or seconds < CONCLUSIVE_SECONDS else None


def cuda_version(number: int | None) -> str | None:
    """Convert NVIDIA's number of a CUDA version: 13000 is "13.0"."""
    return versions.of_cuda(number) if number is not None and number > 0 else None


def _end_in_words(child: Child, how: str, where: str, seconds: float) -> str:
    if how in LATE:
        stuck = "; the child process can't be killed: it is stuck in the kernel" if how != "timed out" else ""
        return f"no response within {seconds:.2g} s {where}{stuck}"
    lines = [line.strip() for line in child.log().splitlines() if line.strip()]
    last_line = f"; its last output: {lines[-1][:200]}" if lines else ""
    verb = "was killed" if how.startswith("killed") else how.partition(" ")[0]
    return f"the child process {verb} {how.partition(' ')[2]} {where}{last_line}"
