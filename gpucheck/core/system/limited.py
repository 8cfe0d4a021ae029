"""A stream that a user names, read up to a size and a time, whoever writes it and however long."""

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

from gpucheck.core.system.bounded import FILE_SECONDS, NoAnswer, within

MOST_BYTES = 4 << 30  # of a log
PIECE_BYTES = 1 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Limited(io.RawIOBase):
    """What comes from a file, a pipe, a device or standard input until one of the limits ends it, as if it ended there."""

    def __init__(self, some: Callable[[int], bytes], until: float = math.inf, most_bytes: int = MOST_BYTES) -> None:
        """Read nothing yet.

        Args:
            some: returns what is there, at most so many bytes; nothing at the end. It may wait for ever.
            until: ``time.monotonic()`` up to which is read.
            most_bytes: how much is read.
        """
        self.cut: str | None = None  # why it was not read to its end
        self.is_device = False
        self._some, self._until, self._left = some, until, most_bytes
        self._most_bytes = most_bytes
        self._piece = memoryview(b"")

    def late(self) -> bool:
        """Whether the time is over; reading has ended then."""
        if self.cut is None and time.monotonic() >= self._until:
            self.cut = "the time limit was reached (--timeout)"
        return self.cut is not None

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read on."""
        while not self._piece and not self.late():
            data = self._next()
            if not data:
                return 0
            # Else a hole, as a log has that was emptied while its program writes on; of a device it tells that there is no log.
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
            data = within(self._until - time.monotonic(), self._some, min(PIECE_BYTES, self._left))
        except NoAnswer:
            self.late()
            self.cut = self.cut or "its file system does not answer"
            return b""
        except BlockingIOError:  # a device that has no more for now, such as /dev/kmsg
            return b""
        self._left -= len(data)
        return data


def opened(path: str, until: float) -> Limited:
    """A file, pipe or device that a user names, or standard input ("-"), as a stream.

    Raises:
        OSError: it can't be opened, its file system does not answer, or nobody writes to the pipe.
    """
    if path == "-":
        given: Any = sys.stdin.buffer
        stream = Limited(given.read1, until)
        with contextlib.suppress(OSError):  # a stream in memory
            stream.is_device = stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode)
        return stream
    kind = within(FILE_SECONDS, os.stat, path).st_mode
    number = _open_pipe(path, until) if stat.S_ISFIFO(kind) else within(FILE_SECONDS, os.open, path, _FLAGS)
    stream = Limited(lambda size: os.read(number, size), until)
    stream.is_device = stat.S_ISCHR(kind)
    return stream


def _open_pipe(path: str, until: float) -> int:
    """A pipe opens as soon as somebody writes to it."""
    try:
        return within(until - time.monotonic(), os.open, path, os.O_RDONLY)
    except NoAnswer:
        raise OSError(errno.ETIMEDOUT, "nobody writes to this pipe") from None
