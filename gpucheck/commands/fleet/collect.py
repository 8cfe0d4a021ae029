"""Files of reports, read by several processes; what they say comes as a stream, in no order."""

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

from gpucheck.commands.fleet.read import LATE, Seen, Unread, read_all
from gpucheck.core.system.bounded import NoAnswer, all_within, patience, within

CHUNK = 50  # files that a process reads at a time
LISTED = 1000  # names that a folder is asked for at a time
END_SECONDS = 0.5  # that the processes get to end in
WORTH = 400  # files from which further processes are faster than none: each takes some tenths of a second to start
SUFFIX = ".json"


def files(paths: Iterable[str], until: float = math.inf) -> Iterator[str]:
    """The files that are named, and those of folders that end in .json, in the order in which the system lists them.

    Args:
        paths: of files and folders. One that does not respond is taken for a file: reading it says so.
        until: when all must be read, as ``time.monotonic()`` counts.

    Raises:
        OSError: a folder can't be read, or there is nothing of that name.
    """
    for named in _chunks(iter(paths)):
        kinds = all_within(until, _is_folder, named)
        for path in named:
            if kinds.get(path):
                yield from _listed(path, until)
            else:
                yield path


def _is_folder(path: str) -> bool:
    status = os.lstat(path)  # of a link to a report nothing more is asked: its end may not respond
    if stat.S_ISLNK(status.st_mode) and not path.endswith(SUFFIX):
        status = os.stat(path)
    return stat.S_ISDIR(status.st_mode)


def _listed(folder: str, until: float) -> Iterator[str]:
    try:
        entries = within(patience(until), os.scandir, folder)  # not closed: a thread that was given up may still read it
        while part := within(patience(until), _some, entries):
            yield from (entry.path for entry in part if entry.name.endswith(SUFFIX) and not entry.name.startswith("."))
    except NoAnswer:
        yield folder


def _some(entries: "Iterator[os.DirEntry[str]]") -> list["os.DirEntry[str]"]:
    return list(itertools.islice(entries, LISTED))


def collect(paths: Iterable[str], now: float, processes: int | None = None, until: float = math.inf) -> Iterator[Seen | Unread]:
    """What every file says. One that does not respond is given up, and the others are read.

    Args:
        paths: of files.
        now: seconds since 1970.
        processes: how many read; None: as many as there are processors, where there are enough files.
        until: when all must be read, as ``time.monotonic()`` counts. Of the files that are not, the first is named.
    """
    paths = iter(paths)
    first = list(itertools.islice(paths, WORTH))
    count = processes or (
        1
        if len(first) < WORTH
        else max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    )
    chunks = _chunks(itertools.chain(first, paths))
    yield from _serial(chunks, now, until) if count == 1 else _parallel(chunks, now, until, count)


def _chunks(paths: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(itertools.islice(paths, CHUNK)):
        yield chunk


def _serial(chunks: Iterator[list[str]], now: float, until: float) -> Iterator[Seen | Unread]:
    for chunk in chunks:
        if time.monotonic() >= until:
            yield _late(chunk)
            return
        yield from read_all(chunk, now, until)


def _parallel(chunks: Iterator[list[str]], now: float, until: float, count: int) -> Iterator[Seen | Unread]:
    """At most a few chunks are under way for each process, so that memory does not grow with the number of files."""
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may stand still
    pool = concurrent.futures.ProcessPoolExecutor(count, mp_context=context)
    under_way: dict[concurrent.futures.Future[list[Seen | Unread]], list[str]] = {}
    try:
        while time.monotonic() < until:
            for chunk in itertools.islice(chunks, 3 * count - len(under_way)):
                under_way[pool.submit(read_all, chunk, now, until)] = chunk
            if not under_way:
                return
            wait = min(until - time.monotonic(), threading.TIMEOUT_MAX)
            done, _ = concurrent.futures.wait(under_way, wait, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                del under_way[future]
                yield from future.result()
        yield from map(_late, itertools.chain(under_way.values(), itertools.islice(chunks, 1)))
    finally:
        with contextlib.suppress(NoAnswer):  # a process whose thread waits for a file system may not end, even if it is killed
            within(END_SECONDS, lambda: pool.shutdown(cancel_futures=True))
        for process in multiprocessing.active_children():
            process.kill()


def _late(chunk: list[str]) -> Unread:
    return Unread(chunk[0], "unreadable", f"{LATE}; what follows was not read")
