"""Messages of the children that open device files and shared libraries."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task


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
