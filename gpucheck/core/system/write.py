"""Writing what was rendered: to standard output, or to a file that is whole or not there."""

import contextlib
import errno
import os
import re
import select
import stat
import sys
import time

from gpucheck.core.system.bounded import FILE_SECONDS, LEAST_SECONDS, within
from gpucheck.core.system.destination import LINKS, destination

READER_SECONDS = 0.1  # that a pipe's reader has, however late the run is
CLOSE_SECONDS = 0.3
ATOMIC_BYTES = getattr(select, "PIPE_BUF", 512)  # of a write that does not block where a pipe has room
_FLAGS = os.O_WRONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_NOFOLLOW"))  # of what is not replaced
_DESCRIPTOR = r"/(?:dev|proc/(?:self|thread-self|\d+))/fd/(\d+)"
_unfinished: set[str] = set()


def write(text: str) -> None:
    """Write to standard output in its own encoding, characters it lacks replaced.

    Raises:
        BrokenPipeError: nobody reads it, or it was closed from the beginning.
        OSError: the disk is full, or the terminal is gone. After either, standard output is closed for good, so that nothing
            complains at exit.
    """
    stream = sys.stdout
    if not text:
        return
    if stream is None:  # as `>&-` leaves it
        raise BrokenPipeError(errno.EPIPE, "closed")
    try:
        data = text.encode(stream.encoding or "utf-8", "replace")
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise


def sweep() -> None:
    """Remove what was begun aside and neither put in place nor discarded, as a signal between two lines leaves it."""
    for path in list(_unfinished):
        with contextlib.suppress(OSError):
            within(CLOSE_SECONDS, os.unlink, path)


class OutputFile:
    """A file that is replaced as a whole.

    Links are followed, if no other user can have put them there (``destination.py``): the file at their end is
    replaced. What can't be renamed over, a pipe or a character device, is written to; what this process has open already
    (/dev/stdout, /dev/fd/63) is written to where it stands.
    """

    def __init__(self, path: str, in_place: bool = False, until: float = float("inf")) -> None:
        """See that it can be written.

        Args:
            path: where to.
            in_place: write into the file that is there instead of replacing it.
            until: ``time.monotonic()`` up to which a pipe's reader, or a file system, is waited for.

        Raises:
            OSError: the place is not writable, another user's, a folder, a socket, a pipe that nobody reads, or does not answer.
        """
        self.failed = False
        self._until = until
        self._file: int | None = None  # None: the file is replaced
        self._empty = False
        self._path = path
        within(FILE_SECONDS, self._open, in_place)

    def commit(self, text: str | bytes) -> None:
        """Write everything and put it in place; bytes as they are.

        Raises:
            OSError: the disk is full, or the place is gone; the old file, if any, is untouched. Or a pipe is not read.
        """
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        left = self._until - time.monotonic()
        try:
            if self._file is None:
                within(max(left, LEAST_SECONDS), self._replace, data)
            elif stat.S_ISREG(os.fstat(self._file).st_mode):
                within(max(left, LEAST_SECONDS), self._write, self._file, memoryview(data))
            else:
                _feed(self._file, memoryview(data), time.monotonic() + max(left, READER_SECONDS))
        except OSError:
            self.failed = True
            raise

    def discard(self) -> None:
        """Let go of it."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                within(CLOSE_SECONDS, os.close, file)

    def _open(self, in_place: bool) -> None:
        place = destination(self._path)
        number = descriptor(self._path)
        if number is not None:
            self._file = _duplicate(number)
            return
        self._path = place
        there = _status(self._path)
        if there is None or (stat.S_ISREG(there.st_mode) and not in_place):
            file, aside = _open_aside(self._path, there, None)  # only to see that it can be: it is filled at the end
            _discard(file, aside)
        else:
            self._empty = stat.S_ISREG(there.st_mode)
            self._file = _open(self._path, there.st_mode)

    def _replace(self, data: bytes) -> None:
        destination(self._path)  # another user may have made it since
        replace(self._path, data)

    def _write(self, file: int, data: memoryview) -> None:
        if self._empty:
            os.ftruncate(file, 0)
        _write_all(file, data)


def replace(path: str, data: bytes, mode: int | None = None) -> None:
    """Replace a file as a whole, or make it: it is written aside, and renamed into place.

    Args:
        path: the file itself, no link.
        data: its content.
        mode: its permissions; None: those and the owner of the file that was there, or what the umask leaves.

    Raises:
        OSError: it can't be written; what was there is untouched.
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
    """Open a file beside the place, under a name of its own (process numbers recur), with the old one's mode and owner."""
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
            with contextlib.suppress(OSError):  # only root can give a file away
                os.fchown(file, user, group)
        with contextlib.suppress(OSError):  # a file system without modes
            os.fchmod(file, mode)
    return file, aside


def _discard(file: int, aside: str) -> None:
    """Close a file that was opened aside, and remove it if it was not put in place."""
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
    """The number of this process' own descriptor that a path names, through links as well; None for any other path."""
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

    if number < 3 and (sys.stdin, sys.stdout, sys.stderr)[number] is None:  # closed; the number may be a file of ours by now
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "it is open for reading only")
    return os.dup(number)


def _open(path: str, mode: int) -> int:
    """Open what is there, without waiting for anybody."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        raise OSError(errno.EINVAL, "neither a file, a pipe nor a character device", path)
    try:
        return os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ENXIO and stat.S_ISFIFO(mode):
            raise OSError(errno.ENXIO, "nobody reads this pipe", path) from None
        raise


def _feed(file: int, data: memoryview, until: float) -> None:
    """Write to a pipe or a device as fast as it is read, in pieces that don't block where there is room."""
    if not hasattr(select, "poll"):  # Windows, whose devices don't make wait
        _write_all(file, data)
        return
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    while data:
        left = min(until - time.monotonic(), 1e6)
        if left <= 0 or not poll.poll(left * 1000):
            raise TimeoutError(errno.ETIMEDOUT, "its reader does not read")
        try:
            data = data[os.write(file, data[:ATOMIC_BYTES]) :]
        except BlockingIOError:
            time.sleep(0.01)
