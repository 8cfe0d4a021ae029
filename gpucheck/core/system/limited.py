"""A stream that a user names, read up to a maximum size and a deadline."""

import contextlib
import errno
import io
import math
import os
import stat
import sys
import time
from collections.abc import Callable
from typing import Any

from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout

MOST_BYTES = 4 << 30  # of a log
PIECE_BYTES = 1 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Limited(io.RawIOBase):
    """A file, pipe, device or standard input that ends at its limits of size and time."""

    def __init__(self, some: Callable[[int], bytes], until: float = math.inf, most_bytes: int = MOST_BYTES) -> None:
        """Set the source and the limits; reads nothing.

        Args:
            some: reads up to the given number of bytes; returns none at the end. It may block forever.
            until: the deadline, in ``time.monotonic()`` seconds.
            most_bytes: the maximum to read.
        """
        self.cut: str | None = None  # why reading stopped before the end
        self.is_device = False
        self._some, self._until, self._left = some, until, most_bytes
        self._most_bytes = most_bytes
        self._piece = memoryview(b"")

    def late(self) -> bool:
        """Whether the deadline has passed; it also ends reading."""
        if self.cut is None and time.monotonic() >= self._until:
            self.cut = "the time limit was reached (--timeout)"
        return self.cut is not None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read into a buffer."""
        while not self._piece and not self.late():
            data = self._next()
            if not data:
                return 0
            # Skip zeros: a log that was truncated while its program writes on has a hole. A device of zeros is not a log.
            if data[0] or self.is_device or data.strip(b"\0"):
                self._piece = memoryview(data)
        size = min(len(buffer), len(self._piece))
        buffer[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size

    def _next(self) -> bytes:
        if self._left <= 0:
            most = self._most_bytes
            self.cut = f"it is larger than {f'{most >> 20} MiB' if most >= 1 << 20 else f'{most} bytes'}"
            return b""
        try:
            data = with_timeout(self._until - time.monotonic(), self._some, min(PIECE_BYTES, self._left))
        except NoResponse:
            self.late()
            self.cut = self.cut or "its file system did not respond"
            return b""
        except BlockingIOError:  # a device without more data at the moment, such as /dev/kmsg
            return b""
        self._left -= len(data)
        return data


def opened(path: str, until: float) -> Limited:
    """Open a file, pipe or device that a user names, or standard input ("-").

    Raises:
        OSError: it can't be opened, its file system did not respond, or the pipe has no writer.
    """
    if path == "-":
        stdin: Any = sys.stdin.buffer
        stream = Limited(stdin.read1, until)
        with contextlib.suppress(OSError):  # a stream in memory
            stream.is_device = stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode)
        return stream
    kind = with_timeout(FILE_SECONDS, os.stat, path).st_mode
    number = _open_pipe(path, until) if stat.S_ISFIFO(kind) else with_timeout(FILE_SECONDS, os.open, path, _FLAGS)
    stream = Limited(lambda size: os.read(number, size), until)
    stream.is_device = stat.S_ISCHR(kind)
    return stream


def _open_pipe(path: str, until: float) -> int:
    """Open a pipe, which blocks until a program opens it for writing."""
    try:
        return with_timeout(until - time.monotonic(), os.open, path, os.O_RDONLY)
    except NoResponse:
        raise OSError(errno.ETIMEDOUT, "no process writes to this pipe") from None
