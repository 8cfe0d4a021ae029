"""A fake machine for probes, and recorded machines as facts for rules and reports. No mock.patch."""

import fnmatch
import json
import pathlib
import posixpath
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gpucheck.core.child.messages import AnyMessage, AnyTask, Message, Stage, Task
from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.engine import recorded
from gpucheck.core.host import Completed, Disk, Ending, FileStatus, Memory
from gpucheck.core.model import Assignment, Operation, ProbeStatus, Reading, Request
from gpucheck.core.model.fact import Facts

NOWHERE = dict.fromkeys(("executable", "version", "prefix", "base_prefix", "platform", "stdlib"), "") | {
    "implementation": "cpython",
    "path": (),
    "bits": 64,
}
# The passed probes in recorded outputs; fixed, so that new probes do not change them.
LISTED_PROBES = ("cuda", "driver", "environment", "gpus", "libraries", "tensorflow", "tpu", "training")
MACHINES = pathlib.Path(__file__).parent / "machines"


class FakeChild:
    """A child that already ended: its messages, result and log.

    Repeated messages are given as (job, message). A stage may be given by its name.
    """

    def __init__(
        self,
        *messages: Message | tuple[str, Message],
        how: str = "finished",
        stage: Stage | str | None = None,
        log: str = "",
        starved: bool = False,
    ):
        self._messages: dict[type[Message], dict[str, Any]] = {}
        for message in messages:
            job, said = message if isinstance(message, tuple) else ("", message)
            self._messages.setdefault(type(said), {})[job] = said
        stage = Stage(stage) if isinstance(stage, str) else stage
        self._ending = Ending(how == "finished", how, stage, () if stage is None else (stage,), starved)
        self._log = log
        self.sent: list[Message] = []

    def wait_for(self, kind: type[AnyMessage], job: str = "", within: float | None = None) -> AnyMessage | None:
        return self.message(kind, job)

    def message(self, kind: type[AnyMessage], job: str = "") -> AnyMessage | None:
        return self.messages(kind).get(job)

    def messages(self, kind: type[AnyMessage]) -> dict[str, AnyMessage]:
        return dict(self._messages.get(kind, {}))

    def progress_count(self) -> int:
        return sum(map(len, self._messages.values()))

    def end(self, silence: float | None = None, longer: Callable[[], float] | None = None) -> Ending:
        return self._ending

    def send(self, message: Message) -> None:
        self.sent.append(message)

    def log(self, limit: int = 1 << 20) -> str:
        return self._log


class FakeHost:
    """A machine defined by a dict of files.

    ``files`` maps absolute paths to text or bytes; folders exist if they contain a file, plus ``folders``. ``links``
    maps link to target. ``nodes`` are character devices: path -> mode (0o666). ``programs`` maps the program's base name (or a
    whole command line joined by blanks) to what it prints, or to a ``Completed``. ``children`` maps modules of ``gpucheck/core/child``
    to a ``FakeChild``; ``asked`` are the tasks passed to them. ``interpreter`` has fields of its report.
    ``peers`` maps "address:port" to the result of a connection (None: connected).
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        *,
        links: Mapping[str, str] | None = None,
        folders: tuple[str, ...] = (),
        nodes: Mapping[str, int] | None = None,
        unwritable: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
        platform: str = "linux",
        uname: tuple[str, str, str] = ("Linux", "6.8.0-45-generic", "x86_64"),
        programs: Mapping[str, str | Completed] | None = None,
        children: Mapping[str, FakeChild] | None = None,
        interpreter: dict[str, Any] | str | None = None,
        memory: Memory | None = None,
        disks: Mapping[str, Disk] | None = None,
        ulimits: Mapping[str, int] | None = None,
        processors: tuple[int | None, int | None] = (16, 16),
        user: int | None = 1000,
        libc: str | None = None,
        request: Request | None = None,
        remaining: float = 60.0,
        peers: Mapping[str, str | None] | None = None,
    ):
        self.request = request or Request()
        self.env = dict(env or {})
        self.platform = platform
        self._files = {path: text.encode() if isinstance(text, str) else text for path, text in (files or {}).items()}
        self._links = dict(links or {})
        self._nodes = dict(nodes or {})
        self._folders = {posixpath.normpath(folder) for folder in folders}
        for path in [*self._files, *self._links, *self._nodes, *self._folders]:
            while (path := posixpath.dirname(path)) not in ("", "/"):
                self._folders.add(path)
        self._unwritable = unwritable
        self._uname = uname
        self._programs = dict(programs or {})
        self.child_of = dict(children or {})
        self._interpreter = interpreter if isinstance(interpreter, str) else Interpreter(**{**NOWHERE, **(interpreter or {})})
        self.asked: list[Task] = []
        self.first_values: dict[str, int | None] = {}
        self._memory, self._disks, self._ulimits = memory, dict(disks or {}), dict(ulimits or {})
        self._processors, self._user, self._remaining = processors, user, remaining
        self._libc = libc
        self._peers = dict(peers or {})
        self.ran: list[list[str]] = []
        self.connected: list[str] = []

    def remaining(self) -> float:
        return self._remaining

    def uname(self) -> tuple[str, str, str]:
        return self._uname

    def read(self, path: str, limit_bytes: int = 1 << 20) -> str | None:
        data = self.read_bytes(path, size=limit_bytes)
        return None if data is None else data.decode("utf-8", "replace")

    def read_bytes(self, path: str, offset: int = 0, size: int = 1 << 20) -> bytes | None:
        data = self._files.get(self.real(path))
        return None if data is None else data[offset : offset + size]

    def glob(self, pattern: str) -> list[str]:
        pattern = pattern.removeprefix("./")
        depth = pattern.count("/")
        everything = [*self._files, *self._links, *self._nodes, *self._folders]
        return sorted({path for path in everything if path.count("/") == depth and _matches(path, pattern)})

    def names(self, folder: str) -> list[str]:
        folder = self.real(folder).rstrip("/")
        everything = [*self._files, *self._links, *self._nodes, *self._folders]
        return sorted({path[len(folder) + 1 :].split("/")[0] for path in everything if path.startswith(folder + "/")})

    def stat(self, path: str) -> FileStatus | None:
        path = self.real(path)
        if path in self._files:
            return FileStatus(len(self._files[path]), 0o644, "file", "root", "root", 0)
        if path in self._nodes:
            return FileStatus(0, self._nodes[path], "character device", "root", "root", 0)
        if path in self._folders or path == "/":
            return FileStatus(0, 0o755, "folder", "root", "root", 0)
        return None

    def sizes(self, paths):
        return [None if (status := self.stat(path)) is None else status.size_bytes for path in paths]

    def link(self, path: str) -> str | None:
        return self._links.get(path)

    def real(self, path: str) -> str:
        path = posixpath.normpath(path)
        for _ in range(20):
            parts = path.split("/")
            for end in range(2, len(parts) + 1):
                target = self._links.get("/".join(parts[:end]))
                if target is not None:
                    base = posixpath.join("/".join(parts[: end - 1]) or "/", target)
                    path = posixpath.normpath(posixpath.join(base, *parts[end:]))
                    break
            else:
                return path
        return path

    def writable(self, path: str) -> bool:
        status = self.stat(path)
        return status is not None and status.kind == "folder" and self.real(path) not in self._unwritable

    def which(self, program: str) -> str | None:
        for folder in self.env.get("PATH", "").split(":"):
            if folder and posixpath.join(folder, program) in {*self._files, *self._links}:
                return posixpath.join(folder, program)
        return None

    def memory(self) -> Memory | None:
        return self._memory

    def disk(self, path: str) -> Disk | None:
        return self._disks.get(path)

    def processors(self) -> tuple[int | None, int | None]:
        return self._processors

    def ulimit(self, name: str) -> int | None:
        return self._ulimits.get(name)

    def user(self) -> int | None:
        return self._user

    def libc(self) -> str | None:
        return self._libc

    def run(self, argv: list[str], timeout: float = 10.0, kept_bytes: int = 0) -> Completed:
        self.ran.append(argv)
        answer = self._programs.get(" ".join(argv), self._programs.get(posixpath.basename(argv[0])))
        if answer is None:
            return Completed("not found")
        return Completed("exited", 0, answer) if isinstance(answer, str) else answer

    def free_port(self) -> int:
        return 40000

    def connect(self, address: str, port: int, timeout: float) -> str | None:
        self.connected.append(f"{address}:{port}")
        return self._peers.get(f"{address}:{port}", "no such name")

    def exchange(self, address: str, port: int, message: bytes, size: int, timeout: float) -> bytes | str:
        said = self.connect(address, port, timeout)
        return "silent" if said is None else said

    def interpreter(self) -> Interpreter | str:
        return self._interpreter

    def library_folder(self, module: str) -> str | None:
        return "/opt/gpucheck/site-packages"

    def once(self, key: str, value: Callable[[], int | None]) -> int | None:
        return self.first_values.setdefault(key, value())

    def child(self, task: Task, limit: float = 30.0) -> FakeChild:
        self.asked.append(task)
        return self.child_of.get(task.child) or FakeChild(how="not started: no such child in this test")

    def children(self, kind: type[AnyTask]) -> list[tuple[AnyTask, FakeChild]]:
        return [
            (task, self.child_of[task.child]) for task in self.asked if isinstance(task, kind) and task.child in self.child_of
        ]


def _matches(path: str, pattern: str) -> bool:
    return all(fnmatch.fnmatchcase(part, want) for part, want in zip(path.split("/"), pattern.split("/"), strict=True))


def machine(name: str) -> dict[str, Any]:
    """A recorded machine: probe name -> its fact as plain JSON."""
    return json.loads((MACHINES / f"{name}.json").read_text())


def readings(plain: dict[str, Any], request: Request | None = None) -> list[Reading]:
    """Typed readings of a machine's plain facts; a probe set to None has failed."""
    kinds = recorded.fact_types()
    assert plain.keys() <= kinds.keys(), f"no such probe: {sorted(plain.keys() - kinds.keys())}"
    typed = {name: msgspec.convert(fact, kinds[name]) for name, fact in plain.items() if fact is not None}
    facts = {"request": request or Request(), **typed}
    return [
        Reading(probe=name, status=ProbeStatus.OK, fact=facts[name])
        if name in facts
        else Reading(probe=name, status=ProbeStatus.FAILED, problem="unreadable in this example")
        for name in [*(name for name in plain if name != "request"), "request"]
    ]


def assignment(
    variable: str, value: str | None = None, prepend: bool = False, reason: str = "", apply: bool = True
) -> Assignment:
    """One variable to set, to prepend to, or (None) to unset."""
    operation = Operation.UNSET if value is None else Operation.PREPEND if prepend else Operation.SET
    return Assignment(variable=variable, operation=operation, value=value or "", reason=reason, apply=apply)


def facts(plain: dict[str, Any]) -> Facts:
    return Facts(readings(plain))


def listed(probes):
    """Return the probe runs in a recorded output: those of ``LISTED_PROBES``, and those that did not pass."""
    return tuple(run for run in probes if run.name in LISTED_PROBES or run.status is not ProbeStatus.OK)
