"""A child process that reports in stages, as its parent sees it."""

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from gpucheck import ulimits
from gpucheck.child.boot import SHADOWS
from gpucheck.child.shadows import ADVICE
from gpucheck.host import LOG_LIMIT_BYTES, Child, Completed, Ending
from gpucheck.host.process import REPORT_LIMIT_BYTES, Process
from gpucheck.model import Request

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A package object without running gpucheck/__init__.py or touching sys.path: the child may run under an interpreter that
# has none of our dependencies, and must not see ours.
BOOTSTRAP = (
    "import sys; p = type(sys)('gpucheck'); p.__path__ = [sys.argv[1]]; sys.modules['gpucheck'] = p; "
    "from gpucheck.child.boot import main; main()"
)

_PRINT_VERSION = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"  # any Python's
OLDEST = (3, 8)  # Python; what runs in children is written for it

EXAMINING = ("framework", "backend", "worker", "exhaustion", "bench", "interpreter")  # these run as the user's own program would


def child_argv(request: Request, name: str, args: tuple[str, ...]) -> list[str]:
    """The command line of a child: the user's interpreter and settings for what examines them, ours, bare, for the rest."""
    python = [request.python or sys.executable] if name in EXAMINING else [sys.executable, "-I", "-S"]
    files = ulimits.given() if name in EXAMINING else None
    code = BOOTSTRAP if files is None else f"{BOOTSTRAP.removesuffix('main()')}main({files})"
    return [*python, "-c", code, PACKAGE, name, *args]


def child_env(request: Request, env: Mapping[str, str], name: str) -> dict[str, str]:
    """The user's environment, except that TensorFlow's log is neither silenced nor flooded (TF_CPP_MAX_VLOG_LEVEL=3 makes it a
    gigabyte), that no cloud is asked for a TPU's metadata, and that Keras runs on the backend that was asked for.
    """
    child = dict(env)
    if name in EXAMINING:
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
    """A started child, or the reason why it could not be started. Any number of threads may wait for its stages."""

    def __init__(self, limit: float) -> None:
        """Watch a process, which is to be started, for at most ``limit`` seconds from now."""
        self._process: Process | None = None
        self._deadline = time.monotonic() + limit
        self._problem: str | None = None
        self._startup = threading.Event()  # it is over, well or not
        self._lock = threading.RLock()
        self._read = 0
        self._pending: list[bytes] = []  # parts of a line that is not whole yet
        self._flooded = False
        self._starved = False
        self._open: list[str] = []  # begun and not ended, in order; a stage that has steps stands as its last one
        self._stages: dict[str, Any] = {}

    def start(self, start: Callable[[], Process]) -> None:
        """Start the process, which may take long where a file system does not answer."""
        try:
            self._process = start()
        except OSError as error:
            self._problem = f"not started: {error}"
        self._startup.set()

    def until(self, stage: str, within: float | None = None) -> Any | None:
        """Wait for a stage's value; None if the child ended or was stopped before it gave one."""
        deadline = self._deadline if within is None else min(self._deadline, time.monotonic() + within)
        process = self._started(deadline)
        if process is not None and not process.wait(deadline, lambda: stage in self.stages() or self._flooded):
            self._stop()
        return self.stages().get(stage)

    def end(self) -> Ending:
        """Wait for the child's end; at its limit it is killed with everything it started."""
        process = self._started(self._deadline)
        if process is None:
            return Ending(False, self._problem or "not started: its file system does not answer", None)
        if not process.wait(self._deadline, self._overflows):
            self._stop()
        stages = self.stages()
        done = "done" in stages and not process.late and not self._flooded
        how = "finished" if done else process.how()
        if self._flooded and not process.late:
            how = f"stopped: it wrote more than {REPORT_LIMIT_BYTES >> 20} MiB to its standard output"
        if "crashed" in stages:
            crash = stages["crashed"]
            how = f"{crash['type']}: {crash['message']}"
        elif how == "finished" and not done:
            how = "ended without a word"
        still = () if done else tuple(self._open)
        return Ending(done, how, still[-1] if still else None, still, self._starved)

    def tell(self, message: Any) -> None:
        """Send the child one JSON message."""
        process = self._started(self._deadline)
        if process is not None:
            process.tell(json.dumps(message).encode())

    def stages(self) -> dict[str, Any]:
        """The values of the stages finished so far, in order."""
        with self._lock:
            if self._process is not None and not self._flooded:
                self._take(self._process.out.read(self._read))
                if self._process.out.size > REPORT_LIMIT_BYTES:  # what writes more is no child of ours
                    self._flooded = True
                    self._pending.clear()
                    self._process.kill()
            return dict(self._stages)

    def activity(self) -> str | None:
        """The stage it is in, if it is still at work."""
        self.stages()
        running = self._process is not None and self._process.returncode is None
        return self._open[-1] if running and self._open else None

    def log(self, limit: int = LOG_LIMIT_BYTES) -> str:
        """What the child wrote to standard output and standard error so far: of very much, the beginning and the end."""
        return "" if self._process is None else self._process.err.text(limit)

    def _started(self, deadline: float) -> Process | None:
        """The process as soon as it was started; None if it could not be, or was not by then."""
        self._startup.wait(max(0.0, deadline - time.monotonic()))
        return self._process

    def _overflows(self) -> bool:
        self.stages()
        return self._flooded

    def _take(self, data: bytes) -> None:
        self._read += len(data)
        self._pending.append(data)
        if b"\n" not in data:
            return
        *lines, rest = b"".join(self._pending).split(b"\n")
        self._pending = [rest]
        for line in lines:
            try:
                entry = json.loads(line)
                if "begin" in entry:
                    self._close(entry["begin"].partition(": ")[0])
                    self._open.append(entry["begin"])
                else:
                    self._stages[entry["end"]] = entry["value"]
                    self._close(entry["end"])
            except (ValueError, KeyError, TypeError):
                continue  # garbage in the report is no stage: the ending tells the rest

    def _close(self, stage: str) -> None:
        """The stage itself, and the steps inside it, are over."""
        self._open = [open for open in self._open if open != stage and not open.startswith(stage + ": ")]

    def _stop(self) -> None:
        with self._lock:
            if self._process is not None and self._process.returncode is None:
                self._process.late = True
                self._starved = self._process.starved()
                self._process.kill()


def unanswered(child: Child, python: str, run: Callable[..., Completed]) -> str:
    """Why an interpreter gave no account of itself: it is too old, a file is in its way, or its own last words.

    Args:
        child: the child that was to give it.
        python: the interpreter.
        run: runs a program to its end.
    """
    how = child.end().how
    if hidden := child.stages().get(SHADOWS):
        name, file = next(iter(hidden.items()))
        return f"{file} hides Python's own module {name}: {ADVICE}"
    words = ([line for line in child.log().splitlines() if line.strip()] or [""])[-1].strip()
    if not how.startswith("exited") or not words:
        return how
    version = run([python, "-S", "-c", _PRINT_VERSION], timeout=5.0).stdout
    if re.fullmatch(r"\d+\.\d+", version) and tuple(map(int, version.split("."))) < OLDEST:
        return f"it is Python {version}, and gpucheck examines Python {'.'.join(map(str, OLDEST))} and later"
    return f"{how}: {words[:200]}"
