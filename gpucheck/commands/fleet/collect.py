"""Read report files with several processes; results are streamed in any order."""

import concurrent.futures
import contextlib
import itertools
import math
import multiprocessing
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator

from gpucheck.commands.fleet.model import Unusual
from gpucheck.commands.fleet.read import LATE, NodeReport, read_all, unread
from gpucheck.core.system.bounded import NoResponse, seconds_per_file, with_deadline, with_timeout

CHUNK = 50  # files per task of a process
LISTED = 1000  # names to read from a folder at a time
END_SECONDS = 0.5  # for the processes to end
MIN_FILES_FOR_PROCESSES = 400  # with fewer files, one process is faster: each takes some tenths of a second to start
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


def collect(
    paths: Iterable[str], now: float, processes: int | None = None, until: float = math.inf
) -> Iterator[NodeReport | Unusual]:
    """Read all files. A file that does not respond is skipped, and the others are read.

    Args:
        paths: of files.
        now: seconds since 1970.
        processes: how many to use; None: one per processor if there are enough files.
        until: the deadline, in ``time.monotonic()`` seconds. The first unread file is reported.
    """
    paths = iter(paths)
    first = list(itertools.islice(paths, MIN_FILES_FOR_PROCESSES))
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = processes or (1 if len(first) < MIN_FILES_FOR_PROCESSES else usable)
    chunks = _chunks(itertools.chain(first, paths))
    yield from _serial(chunks, now, until) if count == 1 else _parallel(chunks, now, until, count)


def _chunks(paths: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(itertools.islice(paths, CHUNK)):
        yield chunk


def _serial(chunks: Iterator[list[str]], now: float, until: float) -> Iterator[NodeReport | Unusual]:
    for chunk in chunks:
        if time.monotonic() >= until:
            yield _late(chunk)
            return
        yield from read_all(chunk, now, until)


def _parallel(chunks: Iterator[list[str]], now: float, until: float, count: int) -> Iterator[NodeReport | Unusual]:
    """Queue only a few chunks per process, so that memory does not grow with the number of files."""
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may deadlock
    pool = concurrent.futures.ProcessPoolExecutor(count, mp_context=context)
    pending: dict[concurrent.futures.Future[list[NodeReport | Unusual]], list[str]] = {}
    try:
        while time.monotonic() < until:
            for chunk in itertools.islice(chunks, 3 * count - len(pending)):
                pending[pool.submit(read_all, chunk, now, until)] = chunk
            if not pending:
                return
            wait = min(until - time.monotonic(), threading.TIMEOUT_MAX)
            done, _ = concurrent.futures.wait(pending, wait, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                del pending[future]
                yield from future.result()
        yield from map(_late, itertools.chain(pending.values(), itertools.islice(chunks, 1)))
    finally:
        with contextlib.suppress(NoResponse):  # a process may not end, even if killed, while a thread waits for a file system
            with_timeout(END_SECONDS, lambda: pool.shutdown(cancel_futures=True))
        for process in multiprocessing.active_children():
            process.kill()


def _late(chunk: list[str]) -> Unusual:
    return unread(chunk[0], "unreadable", f"{LATE}; this and the following files were not read")
