"""Calls with a timeout, for calls that may never return because a file system hangs: each runs in its own thread."""

import errno
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

FILE_SECONDS = 10.0  # timeout for one file; an automounter takes a few seconds
LEAST_SECONDS = 1.0  # timeout for one file after the run's time limit
RESERVE_SECONDS = 1.5  # of a time limit, to judge and write what was read
_run_end = [float("inf")]
_Item = TypeVar("_Item", bound=Hashable)
_Result = TypeVar("_Result")


class NoResponse(TimeoutError):
    """A call timed out; ``strerror`` is the reason, as in every other OSError."""

    def __init__(self) -> None:
        super().__init__(errno.ETIMEDOUT, "its file system did not respond")


def end_at(run_end: float) -> None:
    """Limit all waits to ``run_end``, in ``time.monotonic()`` seconds."""
    _run_end[0] = run_end


def reading_end(started: float, end: float) -> float:
    """Return when to stop reading so that the result can still be judged and written before ``end``.

    Args:
        started: when the time limit started, in ``time.monotonic()`` seconds.
        end: when it ends.
    """
    return end - min(RESERVE_SECONDS, (end - started) / 4)


def with_timeout(seconds: float, work: Callable[..., _Result], *args: Any) -> _Result:
    """Call a function with a timeout; signals can interrupt the wait.

    Args:
        seconds: the timeout; less if the run ends earlier.
        work: the function. After a timeout it continues in its thread, and must do no harm when it returns late.
        args: its arguments.

    Raises:
        NoResponse: it did not return in time. Its own exceptions are raised here.
    """
    wait = min(seconds, max(LEAST_SECONDS, _run_end[0] - time.monotonic()), threading.TIMEOUT_MAX)
    results = _in_threads(wait, lambda _: work(*args), [[0]])
    if not results:
        raise NoResponse
    return results[0]


def seconds_per_file(until: float) -> float:
    """Return the timeout for one file if all must be read ``until`` then: a part of the time left."""
    return max(0.0, min(FILE_SECONDS, (until - time.monotonic()) / 4))


def with_deadline(until: float, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> dict[_Item, _Result]:
    """Call a function for each item, and skip the calls that do not return in time.

    One thread processes them in turn, which is cheap. If it makes no progress for a second, each remaining item gets its own
    thread, so that a hung file system costs one timeout, however many of the items are on it.

    Args:
        until: the deadline, in ``time.monotonic()`` seconds.
        work: the function, as for ``with_timeout``.
        items: its argument, one at a time.

    Returns:
        The results by item. Items that timed out are missing.
    """
    results = _in_threads(min(LEAST_SECONDS, seconds_per_file(until)), work, [items])
    left = [item for item in dict.fromkeys(items) if item not in results]
    return results | _in_threads(seconds_per_file(until), work, [[item] for item in left])


def _in_threads(seconds: float, work: Callable[[_Item], _Result], parts: Sequence[Sequence[_Item]]) -> dict[_Item, _Result]:
    """Start one thread for each part; stop waiting after ``seconds`` without progress."""
    results: dict[_Item, _Result] = {}
    problems: list[BaseException] = []
    stopped = threading.Event()

    def call(part: Sequence[_Item]) -> None:
        try:
            for item in part:
                if stopped.is_set():
                    return
                results[item] = work(item)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=call, args=(part,), daemon=True) for part in parts]
    for thread, part in zip(threads, parts, strict=True):
        try:
            thread.start()
        except RuntimeError:  # a resource limit forbids threads
            call(part)
    before = -1
    while (alive := [thread for thread in threads if thread.is_alive()]) and len(results) > before:
        before = len(results)
        alive[0].join(seconds)
    stopped.set()
    if problems:
        raise problems[0]
    return dict(results)  # a copy: a thread that timed out may still add to it
