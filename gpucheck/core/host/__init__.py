"""Access to the machine. Probes use only ``Host``, so that a test can pass them a fake machine.

``LocalHost`` (``local.py``) is this machine; ``process.py`` starts and ends the child processes behind it.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from gpucheck.core.child.messages import AnyMessage, AnyTask, Message, Stage, Task
from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.model import Request

LOG_LIMIT_BYTES = 1 << 20  # of a child's output, by default
LATE = ("timed out", "could not be killed")  # how a child ended that had to be stopped
PLACEMENT_LOG_BYTES = 16 << 20  # with --log-device-placement: --full writes several MiB


class Completed(msgspec.Struct, frozen=True):
    """The result of a program. A missing or late program is a result too, not an exception."""

    ending: str  # "exited", "not found", "not started: <why>", "timed out", "killed by SIGSEGV", "could not be killed"
    returncode: int | None = None
    stdout: str = ""
    stderr: str = ""
    cut: bool = False  # whether the middle of its output was lost


class FileStatus(msgspec.Struct, frozen=True):
    """The stat(2) result of a file, links followed."""

    size_bytes: int
    mode: int  # permission bits only: 0o666
    kind: str  # "file", "folder", "character device", "other"
    owner: str  # user name, or the number of a user without one
    group: str
    uid: int


class Memory(msgspec.Struct, frozen=True):
    """Main memory of the machine, in bytes."""

    total_bytes: int
    available_bytes: int


class Disk(msgspec.Struct, frozen=True):
    """Size of a mounted file system, in bytes."""

    total_bytes: int
    free_bytes: int


class Ending(msgspec.Struct, frozen=True):
    """How a child ended. ``ok`` only if it reported ``Done`` and exited with 0."""

    ok: bool
    how: str  # "finished", "exited with status 3", "killed by SIGSEGV", "timed out", "could not be killed", "not started: ..."
    stage: Stage | None  # the last unfinished stage
    open: tuple[Stage, ...] = ()  # all unfinished stages, in order; several if they ran at the same time
    starved: bool = False  # it was suspended (SIGSTOP), or waited for a processor after less than half of one so far
    seconds: float = 0.0  # from its start until its last stage began or ended
    silent_seconds: float | None = None  # seconds since then, if it was stopped at a limit

    @property
    def late(self) -> bool:
        """Whether it had to be stopped."""
        return self.how in LATE


class Child(Protocol):
    """A child process that reports in stages (see ``gpucheck/core/child/messages``)."""

    def wait_for(self, kind: type[AnyMessage], job: str = "", within: float | None = None) -> AnyMessage | None:
        """Wait for a message; None if the child ended or was stopped before it sent one.

        Args:
            kind: its class.
            job: the job that must have sent it, if there are several.
            within: seconds from now after which the child is killed as hung; None: its own limit.
        """

    def message(self, kind: type[AnyMessage], job: str = "") -> AnyMessage | None:
        """Return a message that has arrived; None if it has not."""

    def messages(self, kind: type[AnyMessage]) -> dict[str, AnyMessage]:
        """Return all messages of a kind that have arrived, by job, in order."""

    def progress_count(self) -> int:
        """Count the stages and steps that have started or ended; it grows while the child makes progress."""

    def end(self, silence: float | None = None, longer: Callable[[], float] | None = None) -> Ending:
        """Wait for the child to end; at its limit it is killed, with everything it started.

        Args:
            silence: seconds after which it is also killed if no stage begins or ends.
            longer: called after ``silence``; returns the seconds to wait instead if that is longer. It may block.
        """

    def send(self, message: Message) -> None:
        """Send the child a message, which it reads with ``Reporter.receive``. Does nothing if the child has ended."""

    def log(self, limit: int = LOG_LIMIT_BYTES) -> str:
        """Return the child's standard output and standard error; if they exceed ``limit`` bytes, only start and end."""


class Host(Protocol):
    """The machine. A missing file or program does not raise: the result is None, an empty list or a ``Completed``."""

    request: Request
    env: Mapping[str, str]
    platform: str  # as sys.platform

    def remaining(self) -> float:
        """Return the seconds left before the report must be written."""

    def uname(self) -> tuple[str, str, str]:
        """Return system, kernel release and machine: ("Linux", "6.8.0-45-generic", "x86_64")."""

    def read(self, path: str, limit_bytes: int = 1 << 20) -> str | None:
        """Return the text of a file, undecodable bytes replaced; None if it is missing or unreadable."""

    def read_bytes(self, path: str, offset: int = 0, size: int = 1 << 20) -> bytes | None:
        """Return a part of a file; None if it is missing or unreadable."""

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match, sorted."""

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; empty if it is missing or unreadable."""

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file, links followed; None if it is missing."""

    def sizes(self, paths: list[str]) -> list[int | None]:
        """Return the size of each file in bytes, links followed; None for a missing one."""

    def link(self, path: str) -> str | None:
        """Return the target of a symbolic link; None if the path is not one."""

    def real(self, path: str) -> str:
        """Return the path with all links resolved."""

    def writable(self, path: str) -> bool:
        """Return whether this user may create files in a folder; writes nothing."""

    def which(self, program: str) -> str | None:
        """Return the full path of a program on PATH; None if not found."""

    def memory(self) -> Memory | None:
        """Return the size of main memory."""

    def disk(self, path: str) -> Disk | None:
        """Return the size of the file system mounted at a path."""

    def processors(self) -> tuple[int | None, int | None]:
        """Count the logical processors of the machine, and those this process may run on."""

    def ulimit(self, name: str) -> int | None:
        """Return a soft limit by its name in ``resource`` without RLIMIT_ ("AS", "NOFILE"); None: unlimited or unknown."""

    def user(self) -> int | None:
        """Return the effective user id; None on Windows."""

    def libc(self) -> str | None:
        """Return the C library of gpucheck's own interpreter if it is glibc: "glibc 2.39"; else None."""

    def run(self, argv: list[str], timeout: float = 10.0, kept_bytes: int = LOG_LIMIT_BYTES) -> Completed:
        """Run a program without shell and standard input; its process group is killed at the timeout.

        Of more than ``kept_bytes`` of output, the start and the end are kept.
        """

    def free_port(self) -> int:
        """Return a TCP port on the loopback address that is not in use."""

    def connect(self, address: str, port: int, timeout: float) -> str | None:
        """Open a TCP connection and close it without sending anything; None on success, else the error.

        Errors: "refused" (the machine is up, the port is closed), "timed out", "no such name", "unreachable", or the system's
        message.
        """

    def exchange(self, address: str, port: int, message: bytes, size: int, timeout: float) -> bytes | str:
        """Open a TCP connection, send a message, and read until ``size`` bytes arrived, the peer closes, or time is up.

        Returns:
            The bytes that arrived, perhaps none. Else the error: "silent" (no bytes before the timeout), or one of ``connect``'s.
        """

    def interpreter(self) -> Interpreter | str:
        """Return the description of the examined interpreter, or an error message."""

    def library_folder(self, module: str) -> str | None:
        """Return the folder of a module on gpucheck's own sys.path, without importing it; None if not found."""

    def child(self, task: Task, limit: float = 30.0) -> Child:
        """Return the child process for a task, started on the first call and shared by later ones.

        Args:
            task: what the child does. ``Task.examined``: it runs under the examined interpreter with the user's environment,
                otherwise under gpucheck's own, isolated from site-packages.
            limit: seconds after which it is killed, never more than ``remaining()``.
        """

    def once(self, key: str, value: Callable[[], int | None]) -> int | None:
        """Return a value that is computed once per run."""

    def children(self, kind: type[AnyTask]) -> list[tuple[AnyTask, Child]]:
        """Return the started children with a task of that kind, in order."""
