"""The child processes of one run, and the folder of their temporary files: started once, shared, and ended with the run.

No lock is held during slow calls.
"""

import contextlib
import os
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Mapping

import msgspec

from gpucheck.core.child.messages import AnyTask, Task
from gpucheck.core.child.runtime import SCRATCH
from gpucheck.core.host import LOG_LIMIT_BYTES, PLACEMENT_LOG_BYTES, Child, orphans
from gpucheck.core.host.child import PACKAGE, LocalChild
from gpucheck.core.host.process import REAP_SECONDS, Process
from gpucheck.core.model import Request
from gpucheck.core.model.progress import Activity
from gpucheck.core.system import ulimits
from gpucheck.core.system.bounded import NoResponse, with_timeout
from gpucheck.core.system.ownership import is_ours

# A package object without running gpucheck/__init__.py or touching sys.path: the child may run under an interpreter that
# has none of our dependencies, and must not see ours.
BOOTSTRAP = (
    "import sys; p = type(sys)('gpucheck'); p.__path__ = [sys.argv[1]]; sys.modules['gpucheck'] = p; "
    "from gpucheck.core.child.boot import main; main({})"
)

GRACE_SECONDS = 1.0  # after the run's time limit, until a child whose parent was killed ends itself

# If other users can write to the current folder, from which `python -c` imports first.
_LEAVE_OUT_FOLDER = "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "

VARIABLES = ("TMPDIR", "TEMP", "TMP")  # as tempfile looks them up
# The next folders that tempfile would try; tempfile itself would try the folders of the environment again.
DEFAULT_FOLDERS: tuple[str | None, ...] = ("/tmp", "/var/tmp", "/usr/tmp") if os.name == "posix" else (None,)  # noqa: S108
CREATE_SECONDS = 3.0  # to create it, for a folder on a file system that may hang
REMOVE_SECONDS = 0.5
_all: weakref.WeakSet["Children"] = weakref.WeakSet()


def close_all() -> None:
    """End all processes that were started here, before this process is ended at its time limit."""
    for children in list(_all):
        children.close()


def child_argv(request: Request, kind: type[Task], text: str) -> list[str]:
    """Return the command line for a task: the examined interpreter if the task needs it, else ours without site-packages."""
    python = [request.python or sys.executable] if kind.examined else [sys.executable, "-I", "-S"]
    files = ulimits.original_open_files() if kind.examined else None
    code = BOOTSTRAP.format(f"{request.timeout_seconds + GRACE_SECONDS}, {files}")
    if kind.examined and not is_ours(os.curdir):
        code = _LEAVE_OUT_FOLDER + code
    return [*python, "-c", code, PACKAGE, f"{kind.package}.{kind.child}", text]


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


class Children:
    """The child processes of a run. All methods are thread-safe."""

    def __init__(self, request: Request, env: Mapping[str, str]) -> None:
        """Start without processes.

        Args:
            request: what the user requested.
            env: the environment of children.
        """
        self.processes: list[Process] = []
        self.shared: dict[tuple[type[Task], str], tuple[Task, LocalChild]] = {}  # by the text of the task
        self._request, self._env = request, env
        self._scratch = Scratch(env)
        self._lock = threading.Lock()
        self._closed = False
        _all.add(self)

    def child(self, task: Task, limit: float) -> LocalChild:
        """Return the child process for a task, started on the first call, for at most ``limit`` seconds."""
        text = msgspec.json.encode(task).decode()
        with self._lock:
            _, child = self.shared.get((type(task), text), (None, None))
            if child is not None:
                return child
            child = LocalChild(limit)
            self.shared[type(task), text] = task, child
        child.start(lambda: self._start_child(type(task), text))
        return child

    def of(self, kind: type[AnyTask]) -> list[tuple[AnyTask, Child]]:
        """Return the children with a task of that kind."""
        with self._lock:
            return [(task, child) for task, child in self.shared.values() if isinstance(task, kind)]

    def activities(self) -> list[Activity]:
        """Return the current stage of each running child, in the order of their start."""
        with self._lock:
            children = [(task.child, child) for task, child in self.shared.values()]
        return [doing for name, child in children if (doing := child.activity(name)) is not None]

    def start(
        self, argv: list[str], env: Mapping[str, str], *, report_bytes: int | None = None, log_bytes: int = LOG_LIMIT_BYTES
    ) -> Process:
        """Start a process, see ``Process``.

        Raises:
            OSError: it can't be started, or the run has ended.
        """
        if not self._closed:
            process = Process(argv, {**env, **orphans.mark()}, report_bytes=report_bytes, log_bytes=log_bytes)
            orphans.started(process.pid)
            with self._lock:
                if not self._closed:
                    self.processes.append(process)
                    return process
            process.kill()
            process.close()
        raise OSError("the run has ended")

    def forget(self, process: Process) -> None:
        """Close a killed process, and forget it: its number may soon belong to another process."""
        if process.returncode is not None and not process.abandoned:
            process.reap()
            process.close()
            with self._lock:
                self.processes = [other for other in self.processes if other is not process]

    def close(self) -> None:
        """End all running processes, and start no more."""
        with self._lock:
            self._closed = True
            processes = list(self.processes)
        for process in processes:
            process.signal()
        until = time.monotonic() + REAP_SECONDS
        for process in processes:
            process.kill(until)
        for process in processes:
            process.reap()
            process.close()
        orphans.end()
        self._scratch.remove()

    def _start_child(self, kind: type[Task], text: str) -> Process:
        env = child_env(self._request, self._env, kind)
        if kind.examined:
            env.update(self._scratch.variables())
        log_bytes = PLACEMENT_LOG_BYTES if self._request.log_device_placement else LOG_LIMIT_BYTES
        return self.start(child_argv(self._request, kind, text), env, report_bytes=kind.report_bytes, log_bytes=log_bytes)


class Scratch:
    """A temporary folder for children, removed with all files that they leave, even if they are killed.

    TensorFlow writes a file for every function that it converts to a graph, and removes it at interpreter shutdown; children
    skip the shutdown, which may hang. The folder is created on first use; if that fails, children use the same folder as the
    user's programs.
    """

    def __init__(self, env: Mapping[str, str], default: tuple[str | None, ...] = DEFAULT_FOLDERS) -> None:
        """Create nothing yet. The folder is created where ``env`` says, else in one of the ``default`` folders."""
        self._default = default
        self._env = env
        self._path: str | None = None
        self._tried = False
        self._over = False
        self._making = threading.Lock()

    def variables(self) -> dict[str, str]:
        """Return the variables to set for a child; empty without a folder."""
        with self._making:
            if not self._tried:
                self._tried = True
                self._path = self._create()
            if self._over:  # removed while it was created
                self.remove()
            return {} if self._path is None else dict.fromkeys((*VARIABLES, SCRATCH), self._path)

    def remove(self) -> None:
        """Remove the folder as far as possible; probes that still run do not get another one."""
        self._tried = self._over = True
        path, self._path = self._path, None
        if path is not None:
            with contextlib.suppress(NoResponse):
                with_timeout(REMOVE_SECONDS, shutil.rmtree, path, True)

    def _create(self) -> str | None:
        """Create the folder where the user's programs create theirs: the first candidate that is writable and responds."""
        import tempfile  # not needed with --quick

        named = [self._env[name] for name in VARIABLES if self._env.get(name)]
        for folder in [*named, *self._default]:
            with contextlib.suppress(OSError, ValueError):
                return with_timeout(CREATE_SECONDS, tempfile.mkdtemp, None, "gpucheck-", folder)
        return None
