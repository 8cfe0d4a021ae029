"""Calls that may never return because a file system does not answer: made in a thread of their own, and given up in time."""

import errno
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

FILE_SECONDS = 10.0  # how long a file is waited for; an automounter takes some
LEAST_SECONDS = 1.0  # how long it is waited for when the run's time is over
_run_end = [float("inf")]
_Item = TypeVar("_Item", bound=Hashable)
_Result = TypeVar("_Result")


class NoAnswer(TimeoutError):
    """A call was given up. A ``strerror`` says why, as for every other OSError."""

    def __init__(self) -> None:
        super().__init__(errno.ETIMEDOUT, "its file system does not answer")


def end_at(run_end: float) -> None:
    """Wait for nothing longer than until ``run_end``, as ``time.monotonic()`` counts."""
    _run_end[0] = run_end


def within(seconds: float, work: Callable[..., _Result], *args: Any) -> _Result:
    """Call a function, and wait for it in a way that signals can interrupt.

    Args:
        seconds: how long it is waited for; less where the run ends earlier.
        work: what to call. Given up, it goes on in its thread: it must do no harm when it comes back late.
        args: its arguments.

    Raises:
        NoAnswer: it did not come back in time. What it raises itself is raised here.
    """
    results: list[_Result] = []
    problems: list[BaseException] = []
    finished = threading.Event()

    def call() -> None:
        try:
            results.append(work(*args))
        except BaseException as problem:
            problems.append(problem)
        finished.set()

    try:
        threading.Thread(target=call, daemon=True).start()
    except RuntimeError:  # a limit allows no thread
        return work(*args)
    wait = min(seconds, max(LEAST_SECONDS, _run_end[0] - time.monotonic()))
    if not finished.wait(min(wait, threading.TIMEOUT_MAX)):
        raise NoAnswer
    if problems:
        raise problems[0]
    return results[0]


def patience(until: float) -> float:
    """How many seconds one file is waited for if all must be read ``until`` then: a part, so that time is left for others."""
    return max(0.0, min(FILE_SECONDS, (until - time.monotonic()) / 4))


def all_within(until: float, work: Callable[[_Item], _Result], items: Sequence[_Item]) -> dict[_Item, _Result]:
    """Call a function for each item, and give up those for which it does not come back.

    One thread takes them in turn, which is cheap. If it makes no progress for a second, each item that is left gets a thread of
    its own, so that a file system that does not answer is waited for once, however many of the items are there.

    Args:
        until: when all must be over, as ``time.monotonic()`` counts.
        work: what to call, as for ``within``.
        items: its argument, one at a time.

    Returns:
        What it returned, by item. An item that was given up is absent.
    """
    results = _in_threads(min(LEAST_SECONDS, patience(until)), work, [items])
    left = [item for item in dict.fromkeys(items) if item not in results]
    return results | _in_threads(patience(until), work, [[item] for item in left])


def _in_threads(seconds: float, work: Callable[[_Item], _Result], parts: Sequence[Sequence[_Item]]) -> dict[_Item, _Result]:
    """One thread for each part; given up after so many seconds in which none makes progress."""
    results: dict[_Item, _Result] = {}
    problems: list[BaseException] = []
    given_up = threading.Event()

    def call(part: Sequence[_Item]) -> None:
        try:
            for item in part:
                if given_up.is_set():
                    return
                results[item] = work(item)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=call, args=(part,), daemon=True) for part in parts]
    for thread, part in zip(threads, parts, strict=True):
        try:
            thread.start()
        except RuntimeError:  # a limit allows no thread
            call(part)
    before = -1
    while (alive := [thread for thread in threads if thread.is_alive()]) and len(results) > before:
        before = len(results)
        alive[0].join(seconds)
    given_up.set()
    if problems:
        raise problems[0]
    return dict(results)  # a thread that was given up may still add to it
