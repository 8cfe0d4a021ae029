"""Files of reports, read by several processes; what they say comes as a stream, in no order."""

import concurrent.futures
import itertools
import multiprocessing
import os
from collections.abc import Iterable, Iterator

from gpucheck.commands.fleet.read import Seen, Unread, read_all

CHUNK = 100  # files that a process reads at a time
WORTH = 400  # files from which further processes are faster than none: each takes some tenths of a second to start
SUFFIX = ".json"


def files(paths: Iterable[str]) -> Iterator[str]:
    """The files that are named, and those of folders that end in .json, in the order in which the system lists them.

    Raises:
        OSError: a folder can't be read, or there is nothing of that name.
    """
    for path in paths:
        if not os.path.isdir(path):
            os.stat(path)
            yield path
            continue
        with os.scandir(path) as entries:
            yield from (entry.path for entry in entries if entry.name.endswith(SUFFIX) and not entry.name.startswith("."))


def collect(paths: Iterable[str], now: float, processes: int | None = None) -> Iterator[Seen | Unread]:
    """What every file says.

    Args:
        paths: of files.
        now: seconds since 1970.
        processes: how many read; None: as many as there are processors, where there are enough files.
    """
    paths = iter(paths)
    first = list(itertools.islice(paths, WORTH))
    count = processes or (
        1
        if len(first) < WORTH
        else max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    )
    if count == 1:
        for path in itertools.chain(first, paths):
            yield from read_all([path], now)
        return
    yield from _parallel(itertools.chain(first, paths), now, count)


def _parallel(paths: Iterator[str], now: float, count: int) -> Iterator[Seen | Unread]:
    """At most a few chunks are under way for each process, so that memory does not grow with the number of files."""
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may stand still
    with concurrent.futures.ProcessPoolExecutor(count, mp_context=context) as pool:
        under_way: set[concurrent.futures.Future[list[Seen | Unread]]] = set()
        while True:
            while len(under_way) < 3 * count and (chunk := list(itertools.islice(paths, CHUNK))):
                under_way.add(pool.submit(read_all, chunk, now))
            if not under_way:
                return
            done, under_way = concurrent.futures.wait(under_way, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                yield from future.result()
