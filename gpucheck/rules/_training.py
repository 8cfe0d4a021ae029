"""What rules ask of training runs, and of log lines as far as training went on after them."""

import re
from collections.abc import Callable
from typing import NamedTuple

from gpucheck.compat.keras import TITLES
from gpucheck.model import Evidence, Skip, TrainingRun, saw
from gpucheck.model.naming import devices
from gpucheck.probes.log import Event, Log
from gpucheck.probes.training import Training
from gpucheck.rules._words import short

# Illegal addresses and instructions, failed assertions: the program's doing, or rarely the board's.
KERNEL_FAULTS = ("700", "702", "710", "714", "715", "716", "717", "718", "719")
NOT_WATCHED = Skip("no training job and no log to see it in")

_DEADLY = ("SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
_KILL = re.compile(r"(?i)\bkill(?:ed)? process|\boom[-_ ]kill|memory limit|memlimit|srun: error")
# Kubernetes' account of a container's past, and a child's end of which its parent tells.
_OF_ANOTHER = re.compile(r"Exit Code:|OOMKilled|Signals\.")
_TRAINS = re.compile(r"(?i)pyt|pt_|ray|train|worker")  # names of processes
_STARTS = (
    "program-started",
    "gpu-found",
    "gpu-created",
    "strategy-devices",
    "keras-backend",
    "cuinit-failed",
    "cuda-drivers-not-found",
)
_BUFFERED = 500  # lines, at most, that pipes still hold of a program that is gone


class Failure(NamedTuple):
    """Where a failure of a known kind was seen first."""

    text: str  # the reason or the log line, shortened
    evidence: tuple[Evidence, ...]
    affects: tuple[str, ...]
    run: TrainingRun | None = None  # None: seen in the log only
    event: Event | None = None


def failure(
    training: Training | None,
    log: Log | None,
    pattern: str,
    *kinds: str,
    on: Callable[[TrainingRun], bool] = lambda run: True,
    where: Callable[[Event], bool] = lambda event: True,
) -> Failure | Skip | None:
    """A failed run whose reason matches, else a log event of these kinds that nothing later took back.

    Where the jobs passed, an alarming line is no failure: None.
    """
    if training is not None:
        for index, run in enumerate(training.runs):
            if run.status == "failed" and on(run) and re.search(pattern, run.reason or ""):
                evidence = saw(training, f"runs[{index}].devices", f"runs[{index}].reason")
                return Failure(short(run.reason or ""), evidence, run.devices, run)
    lines = [(index, event) for index, event in alarms(training, log, *kinds) if where(event)]
    if log is not None and lines:
        index, event = lines[0]
        return Failure(short(event.text), saw(log, f"events[{index}].text"), (), None, event)
    return NOT_WATCHED if training is None and log is None else None


def standing(log: Log | None, *kinds: str) -> list[tuple[int, Event]]:
    """The events of these kinds after which training did not go on, with their places in ``Log.events``."""
    events = log.events if log is not None else ()
    last = max((index for index, event in enumerate(events) if event.kind == "training-progress"), default=-1)
    starts = [event.line for event in events[: last + 1] if event.kind in _STARTS]

    def went_on(index: int) -> bool:
        """A program that was killed prints what its buffers held, and no more, unless it is started again."""
        if index > last or not _ends(events[index]):
            return index < last and events[index].line < events[last].line  # not behind the bar that it interrupts
        line = events[index].line
        return any(line <= start for start in starts) or events[last].line - line > _BUFFERED

    later = [(index, event) for index, event in enumerate(events) if event.kind in ("nccl-ready", "session-started")]
    return [
        (index, event)
        for index, event in enumerate(events)
        if event.kind in kinds
        and not went_on(index)
        and not any(index < place and _mends(mending, event) for place, mending in later)
    ]


def _ends(event: Event) -> bool:
    """Whether the line tells that the program itself was killed, or crashed in native code."""
    if _OF_ANOTHER.search(event.text):
        return False
    if event.kind == "killed":
        return event.fields.get("signal") in _DEADLY
    if event.kind != "host-out-of-memory" or "invoker" in event.fields:
        return False
    return bool(_KILL.search(event.text)) and bool(_TRAINS.search(event.fields.get("process", "python")))


def _mends(later: Event, event: Event) -> bool:
    """Whether a line shows that what an earlier one told of is over: the workers came, or NCCL did without."""
    if later.kind == "session-started":
        return event.kind == "worker-unreachable"
    return "NCCL WARN" in event.text and _speaker(later) == _speaker(event)


def _speaker(event: Event) -> str:
    """The process that NCCL speaks for: "host:pid" before the thread's number."""
    spoken = re.search(r"(\S+:\d+):\d+ \[\d+\]", event.text)
    return spoken[1] if spoken else ""


def alarms(training: Training | None, log: Log | None, *kinds: str) -> list[tuple[int, Event]]:
    """The standing events of these kinds; none where training, tried here, went well all the same."""
    if training is not None and training.ending is None and passed(training) and not failed(training):
        return []
    return standing(log, *kinds)


def passed(training: Training | None) -> list[TrainingRun]:
    """The runs that passed."""
    return [run for run in training.runs if run.status == "passed"] if training is not None else []


def failed(training: Training | None) -> list[TrainingRun]:
    """The runs that failed."""
    return [run for run in training.runs if run.status == "failed"] if training is not None else []


def on_gpu(run: TrainingRun) -> bool:
    """Whether the run was meant for GPUs."""
    return any("GPU" in device for device in run.devices)


def trained_on_gpu(training: Training | None, *, compiled: bool = False) -> bool:
    """Whether a training job passed on a GPU (with a step compiled by TensorFlow's XLA, if ``compiled``): proof of all it stands on."""
    return training is not None and any(
        run.status == "passed"
        and (not compiled or (run.backend == "tensorflow" and (run.compiled or run.xla_verified)))
        and on_gpu(run)
        for run in training.runs
    )


def label(run: TrainingRun) -> str:
    """'mirrored on GPU:0-7 in mixed_float16', 'one_device on GPU:0 with JAX'."""
    precision = "" if run.precision == "float32" else f" in {run.precision}"
    framework = "" if run.backend == "tensorflow" else f" with {TITLES[run.backend]}"
    return f"{run.strategy}{' on ' + devices(run.devices) if run.devices else ''}{precision}{framework}"
