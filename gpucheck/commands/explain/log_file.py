"""The lines of a log that a user specifies: read up to a size and a deadline, decompressed if needed, refused if not text."""

import contextlib
import errno
import functools
import io
import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout
from gpucheck.core.system.read import MARKS, STDIN, Refused, size_text
from gpucheck.core.system.shells import word

MOST_BYTES = 4 << 30  # of a log
PIECE_BYTES = 1 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
LIMIT = 1 << 30  # bytes of a compressed log when unpacked: a small file can unpack to any size
_LONGEST = 1 << 16  # characters of a line that are read at once
_HEAD = 1 << 16  # bytes used to detect the kind of a file
_MOST_CONTROLS, _MOST_INVALID = 0.01, 0.1  # share of the bytes of a text; invalid UTF-8: letters in an older encoding
# First bytes of a file (RFC 1952, RFC 8878, the formats' own specifications), its format, and the program that unpacks it.
_PACKED = ((b"\x1f\x8b", "gzip", "zcat"), (b"\xfd7zXZ\0", "xz", "xzcat"), (b"BZh", "bzip2", "bzcat"))
_UNSUPPORTED = ((b"PK\x03\x04", "a zip archive", "unzip -p"), (b"\x28\xb5\x2f\xfd", "compressed with zstd", "zstdcat"))
_CONTROLS = bytes({*range(1, 32)}.difference(b"\a\b\t\n\v\f\r\x0e\x0f\x1a\x1b"))  # not in text for a terminal


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
            # Skip zeros: a log that was truncated while its program kept writing has a hole. A device of zeros is not a log.
            if data[0] or self.is_device or data.strip(b"\0"):
                self._piece = memoryview(data)
        size = min(len(buffer), len(self._piece))
        buffer[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size

    def _next(self) -> bytes:
        if self._left <= 0:
            self.cut = f"it is larger than {size_text(self._most_bytes)}"
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
    """Open a file, pipe or device that a user specifies, or standard input ("-").

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


def lines(stream: IO[bytes] | Limited, name: str, limit: int = LIMIT) -> Iterator[str]:
    """Yield the lines of a log, with line ends; bytes that are invalid in the locale's encoding are replaced.

    Args:
        stream: its bytes, from the start.
        name: the name the user gave, a path or "standard input".
        limit: maximum size when unpacked, in bytes. An uncompressed log is streamed to its end.

    Raises:
        Refused: it is not text, or its compressed data is damaged, too large, or in an unsupported format.
    """
    yield from split(unpacked(stream, name, limit), name)


def unpacked(stream: IO[bytes] | Limited, name: str, limit: int = LIMIT) -> io.BufferedReader:
    """Return the content of a file that may be compressed; ``peek`` shows its first bytes.

    Raises:
        Refused: it is a device without an end, or in a format that is not supported.
    """
    head = _head(stream)
    if head and not head.strip(b"\0") and isinstance(stream, Limited) and stream.is_device:  # /dev/zero never ends
        raise Refused(f"cannot read {name}: it is not a text file")
    for magic, what, program in _UNSUPPORTED:
        if head.startswith(magic):
            raise Refused(f"cannot read {name}: it is {what}; try: {_piped(f'{program} {_file(name)}')}")
    whole: io.BufferedReader = io.BufferedReader(_Prefixed(head, stream), _HEAD)
    packed = next((one for one in _PACKED if head.startswith(one[0])), None)
    if packed is None:
        return whole
    _, what, program = packed
    late = stream.late if isinstance(stream, Limited) else lambda: False
    return io.BufferedReader(_Unpacked(_decompressed(what, whole, name), name, what, program, limit, late), _HEAD)


def split(stream: io.BufferedReader, name: str) -> Iterator[str]:
    """Yield the lines of a text. Raises Refused: it is not text, or its compressed data is damaged or too large."""
    _textual(stream.peek(_HEAD), name)
    text = io.TextIOWrapper(stream, errors="replace")
    yield from iter(functools.partial(text.readline, _LONGEST), "")


def _head(stream: IO[bytes] | Limited) -> bytes:
    """Return the first bytes, also from a pipe that delivers a few at a time: enough to detect the format."""
    head = b""
    while len(head) < 8 and (part := _some(stream, _HEAD)):
        head += part
    return head


def _some(stream: IO[bytes] | Limited, size: int) -> bytes:
    """Return the available bytes; empty only at the end."""
    return (stream.read1(size) if isinstance(stream, (io.BufferedReader, io.BytesIO)) else stream.read(size)) or b""


def _decompressed(what: str, stream: io.BufferedReader, name: str) -> io.BufferedIOBase:
    """Open a compressed stream; Python may be built without any of these modules."""
    try:
        if what == "gzip":
            import gzip

            return gzip.GzipFile(fileobj=stream)
        if what == "xz":
            import lzma

            return lzma.LZMAFile(stream, format=lzma.FORMAT_XZ)  # with the format named, it accepts padding at the end
        import bz2

        return bz2.BZ2File(stream)
    except ImportError as error:
        raise Refused(f"cannot read {name}: it is compressed with {what}, and this Python lacks {error.name}") from None


def _textual(head: bytes, name: str) -> None:
    """Check for binary data: NULs and other bytes that text lacks. NULs alone are valid: UTF-16, a file with holes.

    Raises:
        Refused: it is not a text file.
    """
    if b"\0" not in head or head.startswith(MARKS):
        return
    bare = head.replace(b"\0", b"")
    controls = len(bare) - len(bare.translate(None, _CONTROLS))
    invalid = bare.decode("utf-8", "replace").count("\ufffd")
    if controls > _MOST_CONTROLS * len(bare) or invalid > _MOST_INVALID * len(bare):
        raise Refused(f"cannot read {name}: it is not a text file")


def _piped(command: str) -> str:
    return f"{command} | gpucheck explain -"


def _file(name: str) -> str:
    return "FILE" if name == STDIN else word(name)


class _Prefixed(io.RawIOBase):
    """A stream, preceded by the bytes that were already read from it."""

    def __init__(self, head: bytes, stream: IO[bytes] | Limited) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self._head[: len(buffer)] or _some(self._stream, len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


class _Unpacked(io.RawIOBase):
    """The content of a compressed file, up to a limit."""

    def __init__(
        self, stream: io.BufferedIOBase, name: str, what: str, program: str, limit: int, late: Callable[[], bool]
    ) -> None:
        self._stream, self._name, self._what, self._program, self._late = stream, name, what, program, late
        self._limit = self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            part = b"" if self._late() else self._stream.read(min(len(buffer), self._left + 1))
        except Exception as error:  # zlib.error and lzma.LZMAError share no base class with OSError and EOFError
            if self._late():  # incomplete because of the time limit, not damaged
                return 0
            if isinstance(error, MemoryError):
                raise Refused(f"cannot read {self._name}: this process has too little memory to unpack it") from error
            hint = f"to read the rest: {_piped(f'{self._program} {_file(self._name)}')}"
            raise Refused(f"cannot read {self._name}: its {self._what} data is damaged or truncated; {hint}") from error
        self._left -= len(part)
        if self._left < 0:
            end = _piped(f"{self._program} {_file(self._name)} | tail -n 1000000")
            raise Refused(f"cannot read {self._name}: larger than {size_text(self._limit)} when unpacked; to read its end: {end}")
        buffer[: len(part)] = part
        return len(part)
