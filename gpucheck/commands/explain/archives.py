"""The files of a tar or zip archive, such as a folder of logs that was packed for support: read as streams, never extracted.

An archive is untrusted input, so everything is bounded: the number of files, their size when unpacked, and its own headers.
"""

import contextlib
import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

from gpucheck.commands.explain.log_file import LIMIT, Limited, lines, unpacked
from gpucheck.core.system.read import Refused

MOST_FILES = 500
_MOST_HEADER = 1 << 20  # bytes of a header with a long name or other attributes
_MOST_NAME = 160  # characters of a file's name that are shown
_TAR_MAGIC, _TAR_AT = b"ustar", 257  # POSIX.1-1988
ZIP_MAGIC = b"PK\x03\x04"
_HEADERS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


class Archive:
    """The files of an archive, in its order. ``cut`` is the reason why the rest was not read."""

    def __init__(self, stream: io.BufferedReader, name: str, late: Callable[[], bool], most_bytes: int = LIMIT) -> None:
        """Set the source; reads nothing.

        Args:
            stream: an unpacked tar archive, or a zip archive, whose stream must be able to seek.
            name: the archive's name, for messages.
            late: returns whether the deadline has passed.
            most_bytes: of all files together, when unpacked; the rest is not read.
        """
        self.cut: str | None = None
        self._stream, self._name, self._late, self._left = stream, name, late, most_bytes

    def texts(self) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield the name and the lines of each file, no lines if it is not text. Read them before the next file is requested.

        Raises:
            Refused: nothing in the archive can be read.
        """
        count = 0
        try:
            for name, stream in self._files():
                if count == MOST_FILES:
                    self.cut = f"it has more than {MOST_FILES} files"
                if self.cut is not None or self._late():
                    return
                count += 1
                yield name, self._lines(name, stream)
        except (tarfile.TarError, zipfile.BadZipFile, Refused, OSError, EOFError) as error:
            if not count:
                raise Refused(f"cannot read {self._name}: its archive is damaged: {error}") from error
            self.cut = f"its archive is damaged or truncated after {count} files"

    def _lines(self, name: str, stream: IO[bytes]) -> Iterator[str]:
        """Yield the lines of one file, up to the first damaged part."""
        # The modules' exceptions share no base class, and nothing but reading happens here.
        with contextlib.suppress(Exception):
            for line in lines(stream, name, self._left):
                self._left -= len(line)
                if self._left < 0:
                    self.cut = "its files are too large when unpacked"
                if self.cut is not None or self._late():
                    return
                yield line

    def _files(self) -> Iterator[tuple[str, IO[bytes]]]:
        if self._stream.peek(len(ZIP_MAGIC)).startswith(ZIP_MAGIC):
            with self._stream, zipfile.ZipFile(self._stream) as archive:
                for entry in archive.infolist():
                    if not entry.is_dir():
                        with _opened(archive, entry) as file:
                            yield shown(entry.filename), file
            return
        with tarfile.open(fileobj=self._stream, mode="r|", tarinfo=_Header) as tar:
            for member in tar:
                if member.isreg() and (content := tar.extractfile(member)) is not None:
                    yield shown(member.name), content


class _Header(tarfile.TarInfo):
    def _proc_member(self, tar: Any) -> Any:
        """Refuse an extended header that would fill memory: tarfile reads each of them completely."""
        if self.type in _HEADERS and self.size > _MOST_HEADER:
            raise tarfile.ReadError("a header is too large")
        return super()._proc_member(tar)  # type: ignore[misc]


def _opened(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    try:
        return archive.open(entry)
    except (RuntimeError, NotImplementedError):  # encrypted, an unknown compression
        return io.BytesIO(b"\0\x01")  # not text


def shown(name: str) -> str:
    """Return a file's name without control characters, empty parts and ``..``. A long name is cut to its end."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    clean = "".join(letter if letter.isprintable() else "?" for letter in "/".join(parts))
    return clean if len(clean) <= _MOST_NAME else f"...{clean[-_MOST_NAME:]}"


def archive_in(stream: IO[bytes] | Limited, path: str, name: str, most_bytes: int = LIMIT) -> Archive | io.BufferedReader:
    """Open an archive, compressed or not. If the file is not an archive, return its content.

    Args:
        stream: its bytes, from the start.
        path: the file's path. A zip archive is opened from it, because its list of files is at its end.
        name: the name the user gave.
        most_bytes: of an archive's files together, when unpacked; the rest is not read.

    Raises:
        Refused: its format is not supported, such as a zip archive from a pipe.
    """
    late = stream.late if isinstance(stream, Limited) else lambda: False
    if os.path.isfile(path):
        whole = open(path, "rb")  # noqa: SIM115 - closed with the process
        if whole.peek(len(ZIP_MAGIC)).startswith(ZIP_MAGIC):
            return Archive(whole, name, late, most_bytes)
        whole.close()
    content = unpacked(stream, name)
    is_tar = content.peek(_TAR_AT + len(_TAR_MAGIC))[_TAR_AT:].startswith(_TAR_MAGIC)
    return Archive(content, name, late, most_bytes) if is_tar else content
