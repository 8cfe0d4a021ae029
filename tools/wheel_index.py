"""Wheels on PyPI: the index, and files in a wheel, without downloading the rest."""

import io
import json
import urllib.request
import zipfile
from email.message import Message
from email.parser import Parser
from typing import NamedTuple

from packaging.utils import parse_wheel_filename
from packaging.version import Version

INDEX = "https://pypi.org/simple/{}/"
JSON = "application/vnd.pypi.simple.v1+json"
SECONDS = 120.0


class Wheel(NamedTuple):
    """One wheel on PyPI."""

    version: Version
    python: str  # "3.12"
    platform: str
    url: str
    requires_python: str
    sha256: str
    size: int
    uploaded: str  # "2025-03-12"


def get(url: str, **headers: str) -> bytes:
    """Return the content of a URL, or a part of it."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS) as answer:  # noqa: S310 - https
        return bytes(answer.read())


def index(project: str) -> list[Wheel]:
    """Return the wheels of a project that are not yanked."""
    kept = []
    for file in json.loads(get(INDEX.format(project), Accept=JSON))["files"]:
        if file["filename"].endswith(".whl") and not file.get("yanked"):
            try:
                _, version, _, tags = parse_wheel_filename(file["filename"])
            except ValueError:
                continue
            tag = next(iter(tags))
            python = f"{tag.interpreter[2]}.{tag.interpreter[3:]}" if tag.interpreter.startswith("cp") else "any"
            source = (file["filename"], file["url"], file.get("requires-python") or "")
            kept.append(Wheel(version, python, *source, file["hashes"]["sha256"], file["size"], file["upload-time"][:10]))
    return kept


class Remote(io.RawIOBase):
    """A file on a server, read in parts."""

    def __init__(self, url: str) -> None:
        """Query the size of the file, without reading it."""
        request = urllib.request.Request(url, method="HEAD")  # noqa: S310 - https
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - https
            self._size = int(answer.headers["Content-Length"])
        self._url, self._place, self._start, self._held, self.ahead = url, 0, 0, b"", 1 << 16

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position."""
        self._place = offset + (0, self._place, self._size)[whence]
        return self._place

    def tell(self) -> int:
        """Return the position."""
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Read a part, and read ahead."""
        size = min(size if size >= 0 else self._size, self._size - self._place)
        if size <= 0:
            return b""
        if not self._start <= self._place <= self._place + size <= self._start + len(self._held):
            end = min(self._size, self._place + max(size, self.ahead)) - 1
            self._held, self._start = get(self._url, Range=f"bytes={self._place}-{end}"), self._place
        offset = self._place - self._start
        self._place += size
        return self._held[offset : offset + size]


def metadata(wheel: Wheel) -> Message:
    """Return a wheel's METADATA without downloading the rest."""
    with zipfile.ZipFile(Remote(wheel.url)) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())
