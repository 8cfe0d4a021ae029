"""The one way to the machine. Probes see ``Host`` and nothing else, so a test can hand them a machine that does not exist.

``LocalHost`` (``local.py``) is this machine; ``process.py`` starts and ends the child processes behind it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import msgspec

from gpucheck.core.child.messages import AnyMessage, AnyTask, Message, Stage, Task
from gpucheck.core.child.messages.interpreter import Interpreter
from gpucheck.core.model import Request

LOG_LIMIT_BYTES = 1 << 20  # of what a child wrote, unless more is asked for
PLACEMENT_LOG_BYTES = 16 << 20  # where TensorFlow's own account of where operations ran was asked for: --full writes some of them


class Completed(NamedTuple):
    """What became of a program: never an exception, because a missing or late program is an answer too."""

    ending: str  # "exited", "not found", "not started: <why>", "timed out", "killed by SIGSEGV", "could not be killed"
    returncode: int | None
    stdout: str
    stderr: str
    seconds: float


class FileStatus(msgspec.Struct, frozen=True):
    """What stat says of a file, links followed."""

    size_bytes: int
    mode: int  # permission bits only: 0o666
    kind: str  # "file", "folder", "character device", "other"
    owner: str  # user name, or the number where it has none
    group: str
    uid: int


class Memory(msgspec.Struct, frozen=True):
    """Main memory of the machine, in bytes."""

    total_bytes: int
    available_bytes: int


class Disk(msgspec.Struct, frozen=True):
    """Room of a mounted file system, in bytes."""

    total_bytes: int
    free_bytes: int


class Ending(NamedTuple):
    """How a child ended. ``ok`` only if it said that it was done and exited with 0."""

    ok: bool
    how: str  # "finished", "exited with status 3", "killed by SIGSEGV", "timed out", "could not be killed", "not started: ..."
    stage: Stage | None  # the last stage it began and did not finish
    open: tuple[Stage, ...] = ()  # every stage it began and did not finish, in order; several if it did them at the same time
    starved: bool = False  # stopped while it waited for a processor, of which it had had less than half


class Child(Protocol):
    """A child process that reports in stages (see ``gpucheck/core/child/messages``)."""

    def wait_for(self, kind: type[AnyMessage], job: str = "", within: float | None = None) -> AnyMessage | None:
        """Wait for a message; None if the child ended or was stopped before it gave it.

        Args:
            kind: its class.
            job: of which job, where there are several.
            within: seconds from now, after which the child counts as hanging and is killed; None: its own limit.
        """

    def message(self, kind: type[AnyMessage], job: str = "") -> AnyMessage | None:
        """A message that has come; None: it has not."""

    def messages(self, kind: type[AnyMessage]) -> dict[str, AnyMessage]:
        """Every message of a kind that has come, by job, in order."""

    def moves(self) -> int:
        """How many stages and steps it has begun or ended: more of them mean that it goes on."""

    def end(self) -> Ending:
        """Wait for the child's end; at its limit it is killed with everything it started."""

    def send(self, message: Message) -> None:
        """Send the child a message (it reads them with ``Reporter.receive``). A child that has gone is ignored."""

    def log(self, limit: int = LOG_LIMIT_BYTES) -> str:
        """What the child wrote to standard output and standard error so far: of more than ``limit`` bytes beginning and end."""


class Host(Protocol):
    """The machine. Nothing raises for a missing file or program: None, an empty list or a ``Completed`` says so."""

    request: Request
    env: Mapping[str, str]
    platform: str  # as sys.platform

    def remaining(self) -> float:
        """Seconds this run has left before the report must be written."""

    def uname(self) -> tuple[str, str, str]:
        """System, kernel release and machine: ("Linux", "6.8.0-45-generic", "x86_64")."""

    def read(self, path: str, limit_bytes: int = 1 << 20) -> str | None:
        """Text of a file, undecodable bytes replaced; None if it is absent or unreadable."""

    def read_bytes(self, path: str, offset: int = 0, size: int = 1 << 20) -> bytes | None:
        """Part of a file; None if it is absent or unreadable."""

    def glob(self, pattern: str) -> list[str]:
        """Paths that match, sorted."""

    def names(self, folder: str) -> list[str]:
        """Names in a folder, sorted; empty if it is absent or unreadable."""

    def stat(self, path: str) -> FileStatus | None:
        """Status of a file, links followed; None if it is absent."""

    def sizes(self, paths: list[str]) -> list[int | None]:
        """Size of each file in bytes, links followed; None for one that is absent."""

    def link(self, path: str) -> str | None:
        """Target of a symbolic link; None if it is none."""

    def real(self, path: str) -> str:
        """The path with every link resolved."""

    def writable(self, path: str) -> bool:
        """Whether this user may create files in that folder (nothing is written)."""

    def which(self, program: str) -> str | None:
        """Full path of a program on PATH."""

    def memory(self) -> Memory | None:
        """Main memory."""

    def disk(self, path: str) -> Disk | None:
        """Room of the file system mounted at a path."""

    def processors(self) -> tuple[int | None, int | None]:
        """Logical processors of the machine, and those this process may run on."""

    def ulimit(self, name: str) -> int | None:
        """Soft limit by its name in ``resource`` without RLIMIT_ ("AS", "NOFILE", "NPROC"); -1: unlimited; None: unknown."""

    def user(self) -> int | None:
        """Effective user id; None on Windows."""

    def libc(self) -> str | None:
        """The C library of gpucheck's own interpreter, if it is glibc: "glibc 2.39"; None where it is another."""

    def run(self, argv: list[str], timeout: float = 10.0) -> Completed:
        """Run a program to its end: no shell, no standard input, killed as a group when late."""

    def free_port(self) -> int:
        """A TCP port on the loopback address that nobody listens on at this moment."""

    def connect(self, address: str, port: int, timeout: float) -> str | None:
        """Open a TCP connection and close it again; nothing is sent. None: it stood; else what came instead.

        "refused" (the machine answered, nobody listens), "timed out", "no such name", "unreachable", or the system's words.
        """

    def exchange(self, address: str, port: int, message: bytes, size: int, timeout: float) -> bytes | str:
        """Open a TCP connection, send a message, and read until ``size`` bytes have come, the other end closes it, or time is up.

        What came: all of it, some, or, from an end that closed without a word, nothing. In words where nothing came in time
        ("silent"), or the connection did not stand (see ``connect``).
        """

    def interpreter(self) -> Interpreter | str:
        """What the examined interpreter says of itself; in words, why it does not."""

    def library_folder(self, module: str) -> str | None:
        """Folder on gpucheck's own sys.path that holds a module, found without importing it; None: there is none."""

    def child(self, task: Task, limit: float = 30.0) -> Child:
        """The child process that does a task, started on the first call and shared by later ones.

        Args:
            task: what it shall do; also whether it runs under the examined interpreter with the user's environment, or under
                gpucheck's own, isolated from site-packages (``Task.examined``).
            limit: seconds after which it is killed, never more than ``remaining()``.
        """

    def once(self, key: str, value: Callable[[], int | None]) -> int | None:
        """A value as it was when it was first asked for in this run."""

    def children(self, kind: type[AnyTask]) -> list[tuple[AnyTask, Child]]:
        """The children with a task of that kind that were started, in order."""
