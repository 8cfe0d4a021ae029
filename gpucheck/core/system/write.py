"""Rendered text, written to standard output, or to a file that is complete or missing."""

import contextlib
import errno
import os
import re
import select
import stat
import sys
import time

from gpucheck.core.system.bounded import FILE_SECONDS, LEAST_SECONDS, with_timeout
from gpucheck.core.system.ownership import LINKS, destination

READER_SECONDS = 0.1  # minimum time for a pipe's reader, even after the time limit
CLOSE_SECONDS = 0.3
ATOMIC_BYTES = getattr(select, "PIPE_BUF", 512)  # largest write that does not block if a pipe has room
_FLAGS = os.O_WRONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW"))  # of existing files
_DESCRIPTOR = r"/(?:dev|proc/(?:self|thread-self|\d+))/fd/(\d+)"
_unfinished: set[str] = set()


def write(text: str) -> None:
    """Write to standard output in its own encoding; characters it lacks are replaced.

    Raises:
        BrokenPipeError: the reader closed it, or it was closed from the start.
        OSError: the disk is full, or the terminal is gone. Standard output is then redirected to the null device, so that
            Python prints no further error at exit.
    """
    stream = sys.stdout
    if not text:
        return
    if stream is None:  # as `>&-` leaves it
        raise BrokenPipeError(errno.EPIPE, "closed")
    try:
        data = memoryview(text.encode(stream.encoding or "utf-8", "replace"))
        stream.flush()
        while data:  # with PYTHONUNBUFFERED, a full disk takes a part first, and refuses the rest
            taken = stream.buffer.write(data)
            if taken is None:  # a pipe that does not block is full
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            data = data[taken:]
        stream.buffer.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise


def sweep() -> None:
    """Remove temporary files that were neither renamed nor discarded, because a signal interrupted the write."""
    for path in list(_unfinished):
        with contextlib.suppress(OSError):
            with_timeout(CLOSE_SECONDS, os.unlink, path)


class OutputFile:
    """A file that is replaced atomically.

    Links are followed, unless another user may have created them (``destination``): the target is replaced. A pipe or
    character device, which can't be replaced, is written to; an open descriptor of this process (/dev/stdout, /dev/fd/63) is
    written to at its current position.
    """

    def __init__(self, path: str, in_place: bool = False, until: float = float("inf")) -> None:
        """Check that the file can be written.

        Args:
            path: the file's path.
            in_place: write into the existing file instead of replacing it.
            until: ``time.monotonic()`` until which to wait for a pipe's reader or a file system.

        Raises:
            OSError: not writable, another user's, a folder, a socket, a pipe without reader, or a hung file system.
        """
        self.failed = False
        self._until = until
        self._file: int | None = None  # None: the file is replaced
        self._empty = False
        self._path = path
        with_timeout(FILE_SECONDS, self._open, in_place)

    def commit(self, text: str | bytes) -> None:
        """Write the content and move it into place; bytes are written unchanged.

        Raises:
            OSError: the disk is full, or the folder is gone (an old file is unchanged), or a pipe's reader does not read.
        """
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        left = self._until - time.monotonic()
        try:
            if self._file is None:
                with_timeout(max(left, LEAST_SECONDS), self._replace, data)
            elif stat.S_ISREG(os.fstat(self._file).st_mode):
                with_timeout(max(left, LEAST_SECONDS), self._write, self._file, memoryview(data))
            else:
                _feed(self._file, memoryview(data), time.monotonic() + max(left, READER_SECONDS))
        except OSError:
            self.failed = True
            raise

    def discard(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                with_timeout(CLOSE_SECONDS, os.close, file)

    def _open(self, in_place: bool) -> None:
        place = destination(self._path)
        number = descriptor(self._path)
        if number is not None:
            self._file = _duplicate(number)
            return
        self._path = place
        there = _status(self._path)
        if there is None or (stat.S_ISREG(there.st_mode) and not in_place):
            file, aside = _open_aside(self._path, there, None)  # only a test; the content is written by ``commit``
            _discard(file, aside)
        else:
            self._empty = stat.S_ISREG(there.st_mode)
            self._file = _open(self._path, there.st_mode)

    def _replace(self, data: bytes) -> None:
        destination(self._path)  # again: another user may have created it since
        replace(self._path, data)

    def _write(self, file: int, data: memoryview) -> None:
        if self._empty:
            os.ftruncate(file, 0)
        _write_all(file, data)


def replace(path: str, data: bytes, mode: int | None = None) -> None:
    """Create or atomically replace a file: write a temporary file, and rename it.

    Args:
        path: the path of the file itself, not of a link.
        data: its content.
        mode: its permissions; None: those and the owner of the old file, or the umask's default.

    Raises:
        OSError: it can't be written; an old file is unchanged.
    """
    file, aside = _open_aside(path, None if mode is not None else _status(path), mode)
    try:
        _write_all(file, memoryview(data))
        os.fsync(file)
        os.replace(aside, path)
        _unfinished.discard(aside)
    finally:
        _discard(file, aside)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _open_aside(path: str, like: os.stat_result | None, mode: int | None) -> tuple[int, str]:
    """Open a temporary file next to the path, with a random name, and the old file's mode and owner."""
    if mode is None:
        mode = 0o666 if like is None else stat.S_IMODE(like.st_mode) & 0o777
    aside = f"{path}.{os.urandom(4).hex()}.part"
    _unfinished.add(aside)
    try:
        file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except OSError:
        _unfinished.discard(aside)
        raise
    if like is not None and sys.platform != "win32":
        for user, group in ((like.st_uid, -1), (-1, like.st_gid)):
            with contextlib.suppress(OSError):  # only root can change the owner
                os.fchown(file, user, group)
        with contextlib.suppress(OSError):  # a file system without modes
            os.fchmod(file, mode)
    return file, aside


def _discard(file: int, aside: str) -> None:
    """Close a temporary file, and remove it if it was not renamed."""
    with contextlib.suppress(OSError):
        os.close(file)
    if aside in _unfinished:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        _unfinished.discard(aside)


def _write_all(file: int, data: memoryview) -> None:
    while data:
        data = data[os.write(file, data) :]


def descriptor(path: str) -> int | None:
    """Return the number if a path names a descriptor of this process, directly or through links; else None."""
    for _ in range(LINKS):
        match = re.fullmatch(_DESCRIPTOR, path)
        if match is not None:
            process = path.split("/")[2]
            return int(match[1]) if not process.isdigit() or int(process) == os.getpid() else None
        try:
            path = os.path.join(os.path.dirname(path), os.readlink(path))
        except (OSError, ValueError):
            return None
    return None


def _duplicate(number: int) -> int:
    import fcntl

    if number < 3 and (sys.stdin, sys.stdout, sys.stderr)[number] is None:  # closed; we may have reused the number
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "it is open for reading only")
    return os.dup(number)


def _open(path: str, mode: int) -> int:
    """Open an existing file without blocking."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        raise OSError(errno.EINVAL, "neither a file, a pipe nor a character device", path)
    try:
        return os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ENXIO and stat.S_ISFIFO(mode):
            raise OSError(errno.ENXIO, "no process reads this pipe", path) from None
        raise


def _feed(file: int, data: memoryview, until: float) -> None:
    """Write to a pipe or device as fast as it is read, in pieces that do not block if it has room."""
    if not hasattr(select, "poll"):  # Windows, whose devices do not block
        _write_all(file, data)
        return
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    while data:
        left = min(until - time.monotonic(), 1e6)
        if left <= 0 or not poll.poll(left * 1000):
            raise TimeoutError(errno.ETIMEDOUT, "its reader did not read")
        try:
            data = data[os.write(file, data[:ATOMIC_BYTES]) :]
        except BlockingIOError:
            time.sleep(0.01)
