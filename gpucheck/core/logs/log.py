"""The fact Log: the events of a log, and the query for events that no later line resolves."""

import re

from gpucheck.core.logs.events import Event
from gpucheck.core.model import Fact

_FATAL_SIGNALS = ("SIGKILL", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
_KILL = r"(?i)\bkill(?:ed)? process|\boom[-_ ]kill|memory limit|memlimit|srun: error"
# Kubernetes' report of a container's previous state, and a parent's report of its child's exit.
_OF_ANOTHER = r"Exit Code:|OOMKilled|Signals\."
_TRAINS = r"(?i)pyt|pt_|ray|train|worker"  # names of processes
_STARTS = (
    "program-started",
    "gpu-found",
    "gpu-created",
    "strategy-devices",
    "keras-backend",
    "cuinit-failed",
    "cuda-drivers-not-found",
)
_OF_WORKERS = r"TF_CONFIG|(?:ps|worker)_hosts|/job:ps|(?i:parameter ?server)"
_BUFFERED = 500  # maximum number of lines of an ended program that pipes may still hold

ENDS = ("exception", "fatal")  # what a line looks like that may have ended the program: the field "looks" of suspects


class Log(Fact, frozen=True, kw_only=True):
    """The events of one log, in order."""

    source: str  # "gpucheck's own child", a file's name, "standard input"
    events: tuple[Event, ...] = ()
    lines: int = 0
    cut: str | None = None  # why only the beginning was read: "it is larger than 4096 MiB"; None: it was read completely
    skimmed: int = 0  # lines that were skipped because too many differ to check each
    # Of kind "suspect", with the field "looks" ("exception", "fatal", "error", "failure"): the most relevant first; at most 8.
    suspects: tuple[Event, ...] = ()
    harmless: tuple[Event, ...] = ()  # kind "harmless", field "reason": distinct lines that look like errors; at most 40
    harmless_lines: int = 0  # number of harmless lines, with repetitions

    @property
    def of_tpu(self) -> bool:
        """Whether the log seems to be from a program on a TPU; its workers are then the TPU's."""
        other = any(
            event.kind == "gpu-created" or (event.kind == "cluster-named" and re.search(_OF_WORKERS, event.text))
            for event in self.events
        )
        return not other and any(event.kind == "uses-tpu" for event in self.events)


def unresolved(log: Log | None, *kinds: str) -> list[tuple[int, Event]]:
    """Return events of these kinds (default: all) after which training did not continue, with indexes in ``Log.events``."""
    events = log.events if log is not None else ()
    last = max((index for index, event in enumerate(events) if event.kind == "training-progress"), default=-1)
    starts = [event.line for event in events[: last + 1] if event.kind in _STARTS]

    def continued_after(index: int) -> bool:
        """Whether training continued; a killed program still prints its buffers, but no more unless it is restarted."""
        if index > last or not _ends(events[index]):
            return index < last and events[index].line < events[last].line  # not after the progress bar that it interrupts
        line = events[index].line
        return any(line <= start for start in starts) or events[last].line - line > _BUFFERED

    later = [(index, event) for index, event in enumerate(events) if event.kind in ("nccl-ready", "session-started")]
    return [
        (index, event)
        for index, event in enumerate(events)
        if (not kinds or event.kind in kinds)
        and not continued_after(index)
        and not any(index < place and _resolves(success, event) for place, success in later)
    ]


def _ends(event: Event) -> bool:
    """Whether the line reports that the program itself was killed, or crashed in native code."""
    if re.search(_OF_ANOTHER, event.text):
        return False
    if event.kind == "killed":
        return event.fields.get("signal") in _FATAL_SIGNALS
    if event.kind != "host-out-of-memory" or "invoker" in event.fields:
        return False
    return bool(re.search(_KILL, event.text)) and bool(re.search(_TRAINS, event.fields.get("process", "python")))


def _resolves(later: Event, event: Event) -> bool:
    """Whether a later line shows that an event is resolved: the workers connected, or NCCL used a fallback."""
    if later.kind == "session-started":
        return event.kind == "worker-unreachable"
    return "NCCL WARN" in event.text and _nccl_process(later) == _nccl_process(event)


def _nccl_process(event: Event) -> str:
    """Return the process in an NCCL prefix: "host:pid" before the thread ID."""
    match = re.search(r"(\S+:\d+):\d+ \[\d+\]", event.text)
    return match[1] if match else ""
