"""The parent's side of a child process that reports in stages, and the child's report."""

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from gpucheck.core.child.messages import AnyMessage, Crashed, Done, Message, Shadowed, Stage
from gpucheck.core.child.messages.training import ExperimentResult, Planned, Trained
from gpucheck.core.host import LOG_LIMIT_BYTES, Child, Completed, Ending
from gpucheck.core.host.process import Process
from gpucheck.core.model.progress import Activity
from gpucheck.core.system.shadowing import ADVICE

PACKAGE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))  # the folder gpucheck

_PRINT_VERSION = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"  # valid in every Python version
PROBLEM_LENGTH = 200
OLDEST = (3, 8)  # the oldest Python that the code of children supports


class Inbox:
    """A child's report so far: its messages, validated field by field, and its unfinished stages.

    A child runs third-party code, which may write anything. Lines that are not part of the report are ignored; a report line
    with invalid content ends the report.
    """

    def __init__(self) -> None:
        self.read_bytes = 0
        self.progress_count = 0  # stages and steps that have started or ended
        self.open: list[Stage] = []  # started and not ended, in order; a stage with steps is listed as its last step
        self.ended: Counter[str] = Counter()  # how many of each stage have ended
        self.planned: dict[str, int] = {}  # how many of each stage there will be, if known
        self.problem: str | None = None  # why the rest of the report is ignored
        self._messages: dict[type[Message], dict[str, Message]] = {}  # by kind and job
        self._pending: list[bytes] = []  # parts of an incomplete line

    def take(self, data: bytes) -> None:
        """Process the next bytes of the report."""
        self.read_bytes += len(data)
        self._pending.append(data)
        if b"\n" not in data:
            return
        *lines, rest = b"".join(self._pending).split(b"\n")
        self._pending = [rest]
        for line in lines:
            if self.problem is None:
                self._take_line(line)

    def refuse(self, problem: str) -> None:
        """Ignore the rest of the report."""
        self.problem = problem
        self._pending.clear()

    def messages(self, kind: type[AnyMessage]) -> dict[str, AnyMessage]:
        """Return all messages of a kind, by job, in order."""
        return dict(self._messages.get(kind, {}))  # type: ignore[arg-type]

    def _take_line(self, line: bytes) -> None:
        import json  # not every run starts a child

        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(entry, dict):
            return
        try:
            if "begin" in entry:
                self._begin(msgspec.convert([entry["begin"], entry["job"], entry["step"]], Stage))
            elif "end" in entry:
                self._end(entry["end"], entry["job"], entry["value"])
        except (KeyError, TypeError, ValueError, RecursionError) as error:  # msgspec's is a ValueError
            self.refuse(f"its report can't be read: {' '.join(str(error).split())[:PROBLEM_LENGTH]}")

    def _begin(self, stage: Stage) -> None:
        self._close(stage.parent)
        self.open.append(stage)

    def _end(self, name: Any, job: Any, value: Any) -> None:
        kind = next((kind for kind in Message.__subclasses__() if kind.__name__ == name), None)
        if kind is None or not isinstance(job, str):
            raise ValueError(f"unknown message {str(name)[:50]!r}")
        message = msgspec.convert(value, kind)
        self._messages.setdefault(kind, {})[job] = message
        self.ended[kind.stage] += 1
        if isinstance(message, Planned):
            self.planned = {Trained.stage: sum(not job.skip for job in message.jobs), ExperimentResult.stage: message.experiments}
        self._close(Stage(kind.stage, job))

    def _close(self, stage: Stage) -> None:
        """Close a stage and the step inside it."""
        self.progress_count += 1
        self.open = [other for other in self.open if other.parent != stage]


class LocalChild:
    """A started child, or the reason why it did not start. Several threads may wait for its messages."""

    def __init__(self, limit: float) -> None:
        """Set the time limit in seconds from now; ``start`` starts the process."""
        self._process: Process | None = None
        self._deadline = time.monotonic() + limit
        self._problem: str | None = None
        self._startup = threading.Event()  # set when the start succeeded or failed
        self._lock = threading.RLock()
        self._inbox = Inbox()
        self._starved = False
        self._progress = 0
        self._started_at = self._progress_at = time.monotonic()  # the second: when a stage last began or ended
        self._silent_seconds: float | None = None

    def start(self, start: Callable[[], Process]) -> None:
        """Start the process, which can block on a hung file system."""
        try:
            self._process = start()
        except OSError as error:
            self._problem = f"not started: {error}"
        finally:  # even if a signal ends the run meanwhile, because other threads wait for the child
            self._startup.set()

    def wait_for(self, kind: type[AnyMessage], job: str = "", within: float | None = None) -> AnyMessage | None:
        """Wait for a message; None if the child ended or was stopped before it sent one."""
        deadline = self._deadline if within is None else min(self._deadline, time.monotonic() + within)
        process = self._started(deadline)
        if process is not None and not process.wait(
            deadline, lambda: self.message(kind, job) is not None or self._inbox.problem is not None
        ):
            self._stop()
        return self.message(kind, job)

    def message(self, kind: type[AnyMessage], job: str = "") -> AnyMessage | None:
        """Return a message that has arrived; None if it has not."""
        return self.messages(kind).get(job)

    def messages(self, kind: type[AnyMessage]) -> dict[str, AnyMessage]:
        """Return all messages of a kind that have arrived, by job, in order."""
        with self._lock:
            return self._read().messages(kind)

    def progress_count(self) -> int:
        """Count the stages and steps that have started or ended."""
        with self._lock:
            return self._read().progress_count

    def end(self, silence: float | None = None, longer: Callable[[], float] | None = None) -> Ending:
        """Wait for the child to end; at its limit, or after that time without progress, it is killed with all it started."""
        process = self._started(self._deadline)
        if process is None:
            return Ending(False, self._problem or "not started: its file system did not respond", None)
        while not process.wait(until := self._patience(silence), lambda: self._unreadable() is not None):
            if silence is not None and longer is not None:
                silence, longer = max(silence, longer()), None
            if until >= self._patience(silence):
                self._stop()
                break
        problem = self._unreadable()
        done = self.message(Done) is not None and not process.late and problem is None
        crash = self.message(Crashed)
        how = "finished" if done else process.how()
        if problem is not None and not process.late:
            how = f"stopped: {problem}"
        elif crash is not None:
            how = f"{crash.type}: {crash.message}" if crash.message else crash.type
        elif how == "finished" and not done:
            how = "ended unexpectedly"
        unfinished = () if done else tuple(self._inbox.open)
        last = self._progress_at - self._started_at
        return Ending(done, how, unfinished[-1] if unfinished else None, unfinished, self._starved, last, self._silent_seconds)

    def send(self, message: Message) -> None:
        """Send the child a message."""
        process = self._started(self._deadline)
        if process is not None:
            process.write_line(msgspec.json.encode(message))

    def activity(self, child: str) -> Activity | None:
        """Return the stage it is in, under the name of its task; None if it has ended or is between stages."""
        with self._lock:
            inbox = self._read()
            if self._process is None or self._process.returncode is not None or not inbox.open:
                return None
            stage = inbox.open[-1]
            return Activity(child, *stage, ended=inbox.ended[stage.name], planned=inbox.planned.get(stage.name))

    def log(self, limit: int = LOG_LIMIT_BYTES) -> str:
        """Return the child's standard output and standard error; if they are very long, only the start and the end."""
        return "" if self._process is None else self._process.err.text(limit)

    def _started(self, deadline: float) -> Process | None:
        """Wait for the process to start and return it; None if it failed to start or did not start in time."""
        self._startup.wait(max(0.0, deadline - time.monotonic()))
        return self._process

    def _read(self) -> Inbox:
        """Read what the child has reported so far. The caller must hold the lock."""
        if self._process is not None and self._inbox.problem is None:
            self._inbox.take(self._process.out.read(self._inbox.read_bytes))
            limit = self._process.report_bytes
            if limit is not None and self._process.out.size > limit:  # our own children write less
                self._inbox.refuse(f"it wrote more than {limit >> 20} MiB to its standard output")
            if self._inbox.problem is not None:
                self._process.kill()
            if self._inbox.progress_count > self._progress:
                self._progress, self._progress_at = self._inbox.progress_count, time.monotonic()
        return self._inbox

    def _patience(self, silence: float | None) -> float:
        """Return the time at which the child is stopped unless it makes progress."""
        return self._deadline if silence is None else min(self._deadline, self._progress_at + silence)

    def _unreadable(self) -> str | None:
        with self._lock:
            return self._read().problem

    def _stop(self) -> None:
        with self._lock:
            if self._process is not None and self._process.returncode is None:
                self._process.late = True
                self._starved = self._process.starved()
                self._silent_seconds = time.monotonic() - self._progress_at
                self._process.kill()


def interpreter_problem(child: Child, python: str, run: Callable[..., Completed]) -> str:
    """Return why an interpreter could not be described: it is too old, a file shadows a module, or its last line of output.

    Args:
        child: the child that should describe it.
        python: the interpreter.
        run: runs a program.
    """
    how = child.end().how
    hidden = child.message(Shadowed)
    if hidden is not None and hidden.files:
        name, file = next(iter(hidden.files.items()))
        return f"{file} shadows Python's own module {name}: {ADVICE}"
    last_line = ([line for line in child.log().splitlines() if line.strip()] or [""])[-1].strip()
    if not how.startswith("exited") or not last_line:
        return how
    version = run([python, "-S", "-c", _PRINT_VERSION], timeout=5.0).stdout
    if re.fullmatch(r"\d+\.\d+", version) and tuple(map(int, version.split("."))) < OLDEST:
        return f"it is Python {version}, and gpucheck examines Python {'.'.join(map(str, OLDEST))} and later"
    return f"{how}: {last_line[:200]}"
