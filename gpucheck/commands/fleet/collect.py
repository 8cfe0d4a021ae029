"""Find and read report files; results are streamed."""

import itertools
import math
import os
import stat
import time
from collections.abc import Iterable, Iterator

from gpucheck.commands.fleet.model import Unusual
from gpucheck.commands.fleet.read import LATE, NodeReport, read_all, unread
from gpucheck.core.system.bounded import NoResponse, seconds_per_file, with_deadline, with_timeout

CHUNK = 50  # files that are read with one thread
LISTED = 1000  # names to read from a folder at a time
SUFFIX = ".json"


def files(paths: Iterable[str], until: float = math.inf) -> Iterator[str]:
    """Yield the given files, and the .json files of given folders, in the order of the system.

    Args:
        paths: of files and folders. One that does not respond is treated as a file, so that reading it reports the problem.
        until: the deadline, in ``time.monotonic()`` seconds.

    Raises:
        OSError: a folder can't be read, or a path does not exist.
    """
    for named in _chunks(iter(paths)):
        kinds = with_deadline(until, _is_folder, named)
        for path in named:
            if kinds.get(path):
                yield from _listed(path, until)
            else:
                yield path


def _is_folder(path: str) -> bool:
    status = os.lstat(path)  # links to .json files are not followed here: the target may hang
    if stat.S_ISLNK(status.st_mode) and not path.endswith(SUFFIX):
        status = os.stat(path)
    return stat.S_ISDIR(status.st_mode)


def _listed(folder: str, until: float) -> Iterator[str]:
    try:
        # Not closed: after a timeout the thread may still read it.
        entries = with_timeout(seconds_per_file(until), os.scandir, folder)
        while part := with_timeout(seconds_per_file(until), lambda: list(itertools.islice(entries, LISTED))):
            yield from (entry.path for entry in part if entry.name.endswith(SUFFIX) and not entry.name.startswith("."))
    except NoResponse:
        yield folder


def collect(paths: Iterable[str], now: float, until: float = math.inf) -> Iterator[NodeReport | Unusual]:
    """Read all files. A file that does not respond is skipped, and the others are read.

    Args:
        paths: of files.
        now: seconds since 1970.
        until: the deadline, in ``time.monotonic()`` seconds. The first unread file is reported.
    """
    for chunk in _chunks(iter(paths)):
        if time.monotonic() >= until:
            yield unread(chunk[0], "unreadable", f"{LATE}; this and the following files were not read")
            return
        yield from read_all(chunk, now, until)


def _chunks(paths: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(itertools.islice(paths, CHUNK)):
        yield chunk
