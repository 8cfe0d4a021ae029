"""The lines of a log that a user names: unpacked where it is compressed, refused where it is no text."""

import io
from collections.abc import Callable, Iterator
from typing import IO

from gpucheck.core.repairs.shells import word
from gpucheck.core.system.limited import Limited
from gpucheck.core.system.read import MARKS, STDIN, Refused

LIMIT = 1 << 30  # bytes of a compressed log when unpacked: a small file can hold any number of them
_LONGEST = 1 << 16  # characters of a line that are held at once
_HEAD = 1 << 16  # bytes by which a file is judged
_MOST_CONTROLS, _MOST_INVALID = 0.01, 0.1  # of the bytes of a text; invalid in UTF-8: an older encoding's letters
# How files begin (RFC 1952, RFC 8878, the formats' own specifications), what they are, and what prints their content.
_PACKED = ((b"\x1f\x8b", "gzip", "zcat"), (b"\xfd7zXZ\0", "xz", "xzcat"), (b"BZh", "bzip2", "bzcat"))
_FOREIGN = ((b"PK\x03\x04", "a zip archive", "unzip -p"), (b"\x28\xb5\x2f\xfd", "compressed by zstd", "zstdcat"))
_CONTROLS = bytes({*range(1, 32)}.difference(b"\a\b\t\n\v\f\r\x0e\x0f\x1a\x1b"))  # no terminal is sent these


def lines(stream: IO[bytes] | Limited, name: str, limit: int = LIMIT) -> Iterator[str]:
    """The lines of a log, with their ends; what is not valid in the locale's encoding is replaced.

    Args:
        stream: where its bytes come from, from their first on.
        name: what the user called it, a path or "standard input".
        limit: of its size when unpacked, in bytes. What is not compressed is read to its end, as it comes.

    Raises:
        Refused: it is no text, or compressed and damaged, too large, or in a form that cannot be unpacked here.
    """
    head = _head(stream)
    if head and not head.strip(b"\0") and isinstance(stream, Limited) and stream.is_device:  # /dev/zero never ends
        raise Refused(f"cannot read {name}: it is not a text file")
    for magic, what, program in _FOREIGN:
        if head.startswith(magic):
            raise Refused(f"cannot read {name}: it is {what}; try: {_piped(f'{program} {_file(name)}')}")
    whole: io.BufferedReader = io.BufferedReader(_Behind(head, stream))
    packed = next((one for one in _PACKED if head.startswith(one[0])), None)
    if packed is None:
        _textual(head, name)
        yield from _split(whole)
        return
    _, what, program = packed
    late = stream.late if isinstance(stream, Limited) else lambda: False
    content = _Unpacked(_opened(what, whole, name), name, what, program, limit, late)
    unpacked: io.BufferedReader = io.BufferedReader(content, _HEAD)
    _textual(unpacked.peek(_HEAD), name)
    yield from _split(unpacked)


def _split(stream: io.BufferedReader) -> Iterator[str]:
    text = io.TextIOWrapper(stream, errors="replace")
    return iter(lambda: text.readline(_LONGEST), "")


def _head(stream: IO[bytes] | Limited) -> bytes:
    """The first bytes, also of a pipe that hands over a few at a time; no more is waited for than tells what it is."""
    head = b""
    while len(head) < 8 and (part := _some(stream, _HEAD)):
        head += part
    return head


def _some(stream: IO[bytes] | Limited, size: int) -> bytes:
    """What is there, at least one byte before the end."""
    return (stream.read1(size) if isinstance(stream, (io.BufferedReader, io.BytesIO)) else stream.read(size)) or b""


def _opened(what: str, stream: io.BufferedReader, name: str) -> io.BufferedIOBase:
    """A Python may be built without any of these."""
    try:
        if what == "gzip":
            import gzip

            return gzip.GzipFile(fileobj=stream)
        if what == "xz":
            import lzma

            return lzma.LZMAFile(stream)
        import bz2

        return bz2.BZ2File(stream)
    except ImportError as error:
        raise Refused(f"cannot read {name}: it is compressed by {what}, and this Python lacks {error.name}") from None


def _textual(head: bytes, name: str) -> None:
    """Refuse what holds NUL bytes and other ones that no text has. A log may hold NULs: of UTF-16, of a file with holes.

    Raises:
        Refused: it is not a text file.
    """
    if b"\0" not in head or any(head.startswith(mark) for mark, _ in MARKS):
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


class _Behind(io.RawIOBase):
    """A stream, and before it what was read of it already."""

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
    """What a compressed file holds, up to a limit."""

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
        except Exception as error:  # zlib.error and lzma.LZMAError have no class in common with OSError and EOFError
            if self._late():  # what was cut off for want of time is no damage
                return 0
            hint = f"what is left of it: {_piped(f'{self._program} {_file(self._name)}')}"
            raise Refused(f"cannot read {self._name}: its {self._what} data are damaged or cut short; {hint}") from error
        self._left -= len(part)
        if self._left < 0:
            size = f"{self._limit >> 20} MiB" if self._limit >= 1 << 20 else f"{self._limit} bytes"
            end = _piped(f"{self._program} {_file(self._name)} | tail -n 1000000")
            raise Refused(f"cannot read {self._name}: larger than {size} when unpacked; of its end: {end}")
        buffer[: len(part)] = part
        return len(part)
