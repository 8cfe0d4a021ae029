"""Messages of the children that describe the examined interpreter, and that open device files and shared libraries."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import Struct


class InterpreterTask(Task):
    """Describe the interpreter."""

    child: ClassVar[str] = "interpreter"
    examined: ClassVar[bool] = True


class Installation(Struct, frozen=True, kw_only=True):
    """Which interpreter it is."""

    executable: str
    version: str  # "3.12.3"
    implementation: str  # "cpython"
    prefix: str
    base_prefix: str


class Interpreter(Installation, frozen=True, kw_only=True):
    """The running interpreter."""

    path: tuple[str, ...]  # sys.path, absolute, in order, without repetitions
    bits: int
    platform: str  # as sys.platform
    stdlib: str  # folder of the standard library


class Described(Message):
    """The interpreter, as it describes itself."""

    stage: ClassVar[str] = "interpreter"
    interpreter: Interpreter


class DeviceNodesTask(Task):
    """Open device files."""

    child: ClassVar[str] = "device_nodes"
    paths: tuple[str, ...]


class NodeOpened(Message):
    """The result of opening a device file; the job is its path."""

    stage: ClassVar[str] = "open"
    error: str | None = None  # "EACCES"; None: it opened


class LibrariesTask(Task):
    """Open shared libraries, in this order."""

    child: ClassVar[str] = "libraries"
    paths: tuple[tuple[str, str], ...]  # soname and path


class LibraryOpened(Message):
    """The result of opening a library; the job is its soname."""

    stage: ClassVar[str] = "dlopen"
    error: str | None = None  # the loader's message; None: it opened
