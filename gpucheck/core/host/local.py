"""This machine, as a ``Host``."""

import contextlib
import glob
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from gpucheck.core.child.interpreter import describe
from gpucheck.core.child.messages import AnyTask, Task
from gpucheck.core.child.messages.machine import Described, Interpreter, InterpreterTask
from gpucheck.core.host import LOG_LIMIT_BYTES, Child, Completed, Disk, FileStatus, Memory
from gpucheck.core.host.child import interpreter_problem
from gpucheck.core.host.children import Children
from gpucheck.core.model import Request
from gpucheck.core.model.progress import Activity
from gpucheck.core.system import ulimits
from gpucheck.core.system.bounded import reading_end
from gpucheck.core.system.ownership import why_not_as_root
from gpucheck.core.system.read import up_to

Result = TypeVar("Result")


class LocalHost:
    """The machine this process runs on. Use as a context manager: exiting it ends all running children."""

    def __init__(self, request: Request, env: Mapping[str, str] | None = None, started: float | None = None) -> None:
        """Set the time limit; no child is started.

        Args:
            request: what the user requested.
            env: environment to examine and to pass to children; None: this process' own.
            started: ``time.monotonic()`` at the run's start, from which the time limit counts.
        """
        self.request = request
        self.env: Mapping[str, str] = dict(os.environ if env is None else env)
        self.platform = sys.platform
        start = time.monotonic() if started is None else started
        self.deadline = reading_end(start, start + request.timeout_seconds)
        self.started = Children(request, self.env)
        self._interpreter: Interpreter | str | None = None
        self._once: dict[str, int | None] = {}

    def __enter__(self) -> "LocalHost":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all running children, and start no more."""
        self.started.close()

    def activities(self) -> list[Activity]:
        """Return what each child does now, for a progress line."""
        return self.started.activities()

    def remaining(self) -> float:
        """Return the seconds left before the report must be written."""
        return max(0.0, self.deadline - time.monotonic())

    def uname(self) -> tuple[str, str, str]:
        """Return system, kernel release and machine."""
        if hasattr(os, "uname"):
            name = os.uname()
            return name.sysname, name.release, name.machine
        import platform

        return platform.system(), platform.release(), platform.machine()

    def read(self, path: str, limit_bytes: int = 1 << 20) -> str | None:
        """Return the text of a file; None if it is missing or unreadable."""
        data = self.read_bytes(path, size=limit_bytes)
        return None if data is None else data.decode("utf-8", "replace")

    def read_bytes(self, path: str, offset: int = 0, size: int = 1 << 20) -> bytes | None:
        """Return a part of a file; None if it is missing, unreadable, or a named pipe, which could block."""
        try:
            with open(path, "rb", buffering=0, opener=_opener) as file:
                if offset:
                    file.seek(offset)
                return up_to(file.read, size)
        except (OSError, ValueError):
            return None

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match, sorted."""
        return sorted(glob.glob(pattern))

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted."""
        return sorted(_tried(os.listdir, folder) or [])

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file, links followed."""
        import stat

        status = _tried(os.stat, path)
        if status is None:
            return None
        kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFCHR: "character device"}
        return FileStatus(
            size_bytes=status.st_size,
            mode=stat.S_IMODE(status.st_mode),
            kind=kinds.get(stat.S_IFMT(status.st_mode), "other"),
            owner=_name_of("pwd", "getpwuid", status.st_uid),
            group=_name_of("grp", "getgrgid", status.st_gid),
            uid=status.st_uid,
        )

    def sizes(self, paths: list[str]) -> list[int | None]:
        """Return the size of each file, links followed."""
        statuses = (_tried(os.stat, path) for path in paths)
        return [None if status is None else status.st_size for status in statuses]

    def link(self, path: str) -> str | None:
        """Return the target of a symbolic link; None if the path is not one."""
        return _tried(os.readlink, path)

    def real(self, path: str) -> str:
        """Return the path with all links resolved."""
        return _tried(os.path.realpath, path) or path  # relative to a current folder that was removed

    def writable(self, path: str) -> bool:
        """Return whether this user may create files in a folder."""
        if not os.path.isdir(path) or not os.access(path, os.W_OK | os.X_OK):
            return False
        if hasattr(os, "statvfs"):  # root passes os.access even on a read-only file system
            with contextlib.suppress(OSError):
                return not os.statvfs(path).f_flag & os.ST_RDONLY
        return True

    def which(self, program: str) -> str | None:
        """Return the full path of a program on PATH."""
        return shutil.which(program, path=self.env.get("PATH"))

    def memory(self) -> Memory | None:
        """Return the size of main memory, from /proc/meminfo, else from psutil (whose import takes 10 ms)."""
        lines = (line.split() for line in (self.read("/proc/meminfo") or "").splitlines())
        sizes = {words[0]: int(words[1]) << 10 for words in lines if len(words) == 3 and words[2] == "kB"}
        if "MemTotal:" in sizes and "MemAvailable:" in sizes:
            return Memory(total_bytes=sizes["MemTotal:"], available_bytes=sizes["MemAvailable:"])
        import psutil

        try:
            memory = psutil.virtual_memory()
        except OSError:  # a sandbox without /proc
            return None
        return Memory(total_bytes=memory.total, available_bytes=memory.available)

    def disk(self, path: str) -> Disk | None:
        """Return the size of the file system mounted at a path."""
        usage = _tried(shutil.disk_usage, path)
        return None if usage is None else Disk(total_bytes=usage.total, free_bytes=usage.free)

    def processors(self) -> tuple[int | None, int | None]:
        """Count the logical processors of the machine, and those this process may run on."""
        try:
            allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        except OSError:  # a filter of system calls refuses it
            allowed = None
        return os.cpu_count(), allowed

    def ulimit(self, name: str) -> int | None:
        """Return a soft limit by its name without RLIMIT_; None: unlimited or unknown."""
        return ulimits.soft(name)

    def user(self) -> int | None:
        """Return the effective user id; None on Windows."""
        return os.geteuid() if hasattr(os, "geteuid") else None

    def libc(self) -> str | None:
        """Return the C library of this interpreter if it is glibc."""
        try:
            return os.confstr("CS_GNU_LIBC_VERSION")
        except (AttributeError, OSError, ValueError):  # Windows; macOS and musl do not know the name
            return None

    def run(self, argv: list[str], timeout: float = 10.0, kept_bytes: int = LOG_LIMIT_BYTES) -> Completed:
        """Run a program; its process group is killed at the timeout. Longer output loses its middle."""
        started = time.monotonic()
        refused = why_not_as_root(self.which(argv[0]) or argv[0])
        if refused is not None:
            return Completed(f"not started: {refused}")
        try:
            process = self.started.start(argv, dict(self.env), log_bytes=kept_bytes)
        except FileNotFoundError:
            return Completed("not found")
        except OSError as error:
            return Completed(f"not started: {error}")
        process.late = not process.wait(started + min(timeout, self.remaining()))
        process.kill()
        how = "exited" if not process.late and (process.returncode or 0) >= 0 else process.how()
        out, err = process.out.text(kept_bytes), process.err.text(LOG_LIMIT_BYTES)
        done = Completed(how, process.returncode, out, err, cut=process.out.size > kept_bytes)
        self.started.forget(process)
        return done

    def free_port(self) -> int:
        """Return a TCP port on the loopback address that is not in use."""
        import socket

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    def connect(self, address: str, port: int, timeout: float) -> str | None:
        """Open a TCP connection and close it again; None on success."""
        from gpucheck.core.host import connection

        return connection.connect(address, port, max(0.05, min(timeout, self.remaining())))

    def exchange(self, address: str, port: int, message: bytes, size: int, timeout: float) -> bytes | str:
        """Open a TCP connection, send a message, and read the start of the answer."""
        from gpucheck.core.host import connection

        return connection.exchange(address, port, message, size, max(0.05, min(timeout, self.remaining())))

    def interpreter(self) -> Interpreter | str:
        """Return the description of the examined interpreter; gpucheck's own needs no child."""
        if self._interpreter is None:
            self._interpreter = describe() if self.request.python is None else self._describe_in_child()
        return self._interpreter

    def library_folder(self, module: str) -> str | None:
        """Return the folder of a module on gpucheck's own sys.path, without importing it."""
        import importlib.machinery

        spec = importlib.machinery.PathFinder.find_spec(module)
        return None if spec is None or spec.origin is None else os.path.dirname(os.path.abspath(spec.origin))

    def once(self, key: str, value: Callable[[], int | None]) -> int | None:
        """Return a value that is computed once; of two threads at the same time, one wins."""
        return self._once[key] if key in self._once else self._once.setdefault(key, value())

    def child(self, task: Task, limit: float = 30.0) -> Child:
        """Return the child process for a task, started on the first call and shared by later ones."""
        return self.started.child(task, min(limit, self.remaining()))

    def children(self, kind: type[AnyTask]) -> list[tuple[AnyTask, Child]]:
        """Return the started children with a task of that kind."""
        return self.started.of(kind)

    def _describe_in_child(self) -> Interpreter | str:
        child = self.child(InterpreterTask(), limit=15.0)
        described = child.wait_for(Described)
        return described.interpreter if described else interpreter_problem(child, str(self.request.python), self.run)


def _opener(path: str, flags: int) -> int:
    """Open without blocking; fail for a named pipe."""
    import stat

    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISFIFO(os.fstat(number).st_mode):
        os.close(number)
        raise OSError("a named pipe")
    return number


def _tried(read: Callable[[str], Result], path: str) -> Result | None:
    """Return the result of a system call; None for a path that it refuses."""
    try:
        return read(path)
    except (OSError, ValueError):
        return None


def _name_of(module: str, function: str, number: int) -> str:
    try:
        return str(getattr(__import__(module), function)(number)[0])
    except (ImportError, KeyError):
        return str(number)
