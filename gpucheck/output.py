"""Writing what was rendered: to standard output, or to a file that is whole or not there."""

import contextlib
import os
import sys


def write(text: str) -> None:
    """Write to standard output in its own encoding, characters it lacks replaced.

    Raises:
        BrokenPipeError: nobody reads it; standard output is closed for good then, so that nothing complains at exit.
    """
    stream = sys.stdout
    try:
        data = text.encode(stream.encoding or "utf-8", "replace")
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise


class OutputFile:
    """A file written aside and renamed into place."""

    def __init__(self, path: str, in_place: bool = False) -> None:
        """Open the file aside, in the same folder; ``in_place``: the file itself, if it is there.

        Raises:
            OSError: the place is not writable, or is a folder.
        """
        if os.path.isdir(path):
            raise IsADirectoryError(21, "Is a directory", path)
        self.path = path
        self.failed = False
        self._special = os.path.exists(path) and not os.path.isfile(path)  # a device or a pipe can't be renamed over
        self._emptied = in_place and os.path.isfile(path)
        self._special = self._special or self._emptied
        self._aside = path if self._special else f"{path}.{os.getpid()}.part"
        flags = os.O_WRONLY if self._special else os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self._file = os.open(self._aside, flags, 0o666)

    def commit(self, text: str | bytes) -> None:
        """Write everything and put it in place; bytes as they are.

        Raises:
            OSError: the disk is full, or the place is gone; the old file, if any, is untouched.
        """
        try:
            data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
            if self._emptied:
                os.ftruncate(self._file, 0)
            while data:
                data = data[os.write(self._file, data) :]
            if not self._special:
                os.fsync(self._file)
                os.replace(self._aside, self.path)
        except OSError:
            self.failed = True
            raise

    def discard(self) -> None:
        """Remove what was not put in place."""
        with contextlib.suppress(OSError):
            os.close(self._file)
        if not self._special:
            with contextlib.suppress(OSError):
                os.unlink(self._aside)
