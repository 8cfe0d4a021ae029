"""Calls that may never return because a file system does not answer: made in a thread of their own, and given up in time."""

import errno
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

FILE_SECONDS = 10.0  # how long a file is waited for; an automounter takes some
LEAST_SECONDS = 1.0  # how long it is waited for when the run's time is over
_run_end = [float("inf")]
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
