"""The parent's side of a child process that reports in stages."""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping

import msgspec

from gpucheck.core.child.messages import AnyMessage, Crashed, Done, Message, Shadowed, Task
from gpucheck.core.host import LOG_LIMIT_BYTES, Child, Completed, Ending
from gpucheck.core.host.inbox import Inbox
from gpucheck.core.host.process import Process
from gpucheck.core.model import Request
from gpucheck.core.model.progress import Activity
from gpucheck.core.system import ulimits
from gpucheck.core.system.ownership import is_ours
from gpucheck.core.system.shadowing import ADVICE

PACKAGE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))  # the folder gpucheck

# A package object without running gpucheck/__init__.py or touching sys.path: the child may run under an interpreter that
# has none of our dependencies, and must not see ours.
BOOTSTRAP = (
    "import sys; p = type(sys)('gpucheck'); p.__path__ = [sys.argv[1]]; sys.modules['gpucheck'] = p; "
    "from gpucheck.core.child.boot import main; main({})"
)

GRACE_SECONDS = 1.0  # after the run's time limit, until a child whose parent was killed ends itself

# If other users can write to the current folder, from which `python -c` imports first.
_LEAVE_OUT_FOLDER = "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "

_PRINT_VERSION = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"  # valid in every Python version
OLDEST = (3, 8)  # the oldest Python that the code of children supports


def child_argv(request: Request, kind: type[Task], text: str) -> list[str]:
    """Return the command line for a task: the examined interpreter if the task needs it, else ours without site-packages."""
    python = [request.python or sys.executable] if kind.examined else [sys.executable, "-I", "-S"]
    files = ulimits.original_open_files() if kind.examined else None
    code = BOOTSTRAP.format(f"{request.timeout_seconds + GRACE_SECONDS}, {files}")
    if kind.examined and not is_ours(os.curdir):
        code = _LEAVE_OUT_FOLDER + code
    return [*python, "-c", code, PACKAGE, kind.child, text]


def child_env(request: Request, env: Mapping[str, str], kind: type[Task]) -> dict[str, str]:
    """Return the user's environment with these changes: TensorFlow's log is neither silenced nor flooded (with
    TF_CPP_MAX_VLOG_LEVEL=3 it reaches a gigabyte), no TPU metadata is queried from a cloud, and Keras uses the requested backend.
    """
    child = dict(env)
    if kind.examined:
        if request.backend is not None:
            child["KERAS_BACKEND"] = request.backend
        child["TF_CPP_MIN_LOG_LEVEL"] = "0"
        child.pop("TF_CPP_MAX_VLOG_LEVEL", None)
        vmodule = child.get("TF_CPP_VMODULE")
        child["TF_CPP_VMODULE"] = f"{vmodule},dso_loader=1" if vmodule else "dso_loader=1"  # names a missing library
        child.setdefault("TPU_SKIP_MDS_QUERY", "1")
        child["PYTHONUNBUFFERED"] = "1"
    return child


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
        self._silent: float | None = None

    def start(self, start: Callable[[], Process]) -> None:
        """Start the process, which can block on a hung file system."""
        try:
            self._process = start()
        except OSError as error:
            self._problem = f"not started: {error}"
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
        return Ending(done, how, unfinished[-1] if unfinished else None, unfinished, self._starved, last, self._silent)

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
        """When the child is stopped unless it makes progress."""
        return self._deadline if silence is None else min(self._deadline, self._progress_at + silence)

    def _unreadable(self) -> str | None:
        with self._lock:
            return self._read().problem

    def _stop(self) -> None:
        with self._lock:
            if self._process is not None and self._process.returncode is None:
                self._process.late = True
                self._starved = self._process.starved()
                self._silent = time.monotonic() - self._progress_at
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
        return f"{file} hides Python's own module {name}: {ADVICE}"
    last_line = ([line for line in child.log().splitlines() if line.strip()] or [""])[-1].strip()
    if not how.startswith("exited") or not last_line:
        return how
    version = run([python, "-S", "-c", _PRINT_VERSION], timeout=5.0).stdout
    if re.fullmatch(r"\d+\.\d+", version) and tuple(map(int, version.split("."))) < OLDEST:
        return f"it is Python {version}, and gpucheck examines Python {'.'.join(map(str, OLDEST))} and later"
    return f"{how}: {last_line[:200]}"
