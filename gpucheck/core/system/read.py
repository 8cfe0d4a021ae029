"""The content of what a user specifies: a regular file up to a maximum size, standard input, or a pipe that the shell has opened.

Never blocks on a pipe without a writer, and never reads without end.
"""

import codecs
import errno
import math
import os
import stat
import sys
from collections.abc import Callable

import msgspec

from gpucheck.core.system.bounded import FILE_SECONDS, with_timeout
from gpucheck.core.system.write import descriptor

KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}
STDIN = "standard input"
REPORT_BYTES_MAX = 1 << 23  # a report of a machine with 1,000 GPUs takes 2 MB
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# Before msgspec 0.21, a DecodeError is not a ValueError; before 0.23, invalid UTF-8 is a UnicodeDecodeError instead.
INVALID_JSON = (msgspec.DecodeError, ValueError, RecursionError)


class Refused(ValueError):
    """A file can't be read; the message names the file and the reason, in one line."""


def read(path: str, limit: int, dash: bool = False) -> bytes:
    """Return the content of a file, its text converted to UTF-8.

    Args:
        path: a regular file, or a pipe that this process has open, as in ``<(command)``. Anything else (a FIFO, /dev/zero)
            could block or never end.
        limit: in bytes; a larger file is refused, not truncated.
        dash: whether "-" is standard input.

    Raises:
        Refused: file not found, not a regular file, too large, or standard input is closed.
    """
    if dash and path == "-" and sys.stdin is None:
        raise Refused(f"{STDIN} is closed, so nothing can be read from it")
    try:
        return utf8(whole(path, limit, dash))
    except OSError as error:
        raise Refused(f"cannot read {STDIN if dash and path == '-' else path}: {error.strerror or error}") from None
    except ValueError as error:  # a name with a NUL
        raise Refused(f"cannot read {path!r}: {error}") from None


def whole(path: str, limit: int, dash: bool = False) -> bytes:
    """Return the content unchanged, in any encoding.

    Raises:
        OSError: file not found, not a regular file, too large (EFBIG), or standard input is closed; see ``strerror``.
        ValueError: the name has a NUL.
    """
    if dash and path == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        return with_timeout(math.inf, _bounded, sys.stdin.buffer.read, limit)
    return with_timeout(math.inf, _content, with_timeout(FILE_SECONDS, _open, path, dash), limit)


def regular(path: str, limit: int) -> bytes:
    """Return the content of a file as ``whole`` does, in this thread: for a caller with its own timeout. Raises the same."""
    return _content(_open(path, dash=False), limit)


def up_to(some: Callable[[int], bytes | None], limit: int) -> bytes:
    """Return at most ``limit`` bytes from a function that may return fewer than requested, and none at the end."""
    parts, left = [], limit
    while left > 0 and (part := some(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def utf8(data: bytes) -> bytes:
    """Convert text to UTF-8 without a byte order mark, also from UTF-16 (PowerShell's ``>``); other data stays unchanged."""
    if b"\0" not in data and not data.startswith(MARKS):  # UTF-8, as nearly always
        return data
    if not data.strip(b"\0"):  # a hole in a file is not text
        return data
    import json

    try:
        return data.decode(json.detect_encoding(data)).encode()
    except UnicodeDecodeError:
        return data.removeprefix(codecs.BOM_UTF8)


def _open(path: str, dash: bool) -> int:
    """Open a regular file, or duplicate the descriptor if the path names an open pipe."""
    number = descriptor(path)
    if number is not None and stat.S_ISFIFO(os.fstat(number).st_mode):
        return os.dup(number)
    _regular(os.stat(path), dash)  # before opening, which has side effects on some devices
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _regular(os.fstat(opened), dash)
    except OSError:
        os.close(opened)
        raise
    return opened


def _content(opened: int, limit: int) -> bytes:
    try:
        return _bounded(lambda size: os.read(opened, size), limit)
    finally:
        os.close(opened)


def _regular(status: os.stat_result, dash: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        hint = f" ({STDIN} is read as -)" if dash and kind == "a pipe" else ""
        raise OSError(errno.EINVAL, f"{kind}, not a regular file{hint}")


def size_text(limit: int) -> str:
    """Format a limit in bytes: '8 MiB'; below one MiB '4096 bytes'."""
    return f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit} bytes"


def _bounded(some: Callable[[int], bytes], limit: int) -> bytes:
    content = up_to(some, limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"larger than {size_text(limit)}, too large for a file of this kind")
    return content
