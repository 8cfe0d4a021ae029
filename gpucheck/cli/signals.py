"""Signals that end the command, from its first moment on: what it began is swept, and the exit code is the one a shell gives."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a supervisor, a terminal or a connection that is gone
PAIR_SECONDS = 2.0  # they come in pairs: systemd sends SIGHUP after SIGTERM, people press Ctrl-C twice
AGAIN_SECONDS = 0.01
_left = [float("-inf")]  # when the last one was heeded
_ignored = [0]  # the signal whose exception Python ignored


class Ended(SystemExit):
    """A signal ends the command."""


def catch() -> None:
    """Leave by SystemExit on each of them, except those that are ignored, as nohup(1) does it. For the main thread."""
    for number in _numbers():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)
    if hasattr(signal, "setitimer"):
        sys.unraisablehook = _raise_again


def release() -> None:
    """Handle them as a program that has just been started does."""
    for number in _numbers():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # execve(2) would hand it on
        if callable(signal.getsignal(signal.SIGALRM)):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt, for a job that keeps what is done by then."""
    before = signal.getsignal(signal.SIGINT)
    if before is not _leave:  # ignored, or not ours
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def held_off() -> Iterator[None]:
    """Inside, none of them is heeded: what is swept is swept to its end. For the main thread."""
    before = {number: signal.getsignal(number) for number in _numbers()}
    for number in before:
        signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _numbers() -> list[signal.Signals]:
    return [getattr(signal, name) for name in NAMES if hasattr(signal, name)]


def _leave(number: int, frame: Any) -> None:
    if _first():
        raise Ended(128 + number)


def _interrupt(number: int, frame: Any) -> None:
    if _first():
        raise KeyboardInterrupt


def _first() -> bool:
    """Whether a signal is heeded: the second of a pair must cut short neither the sweeping nor the report of what is done."""
    now = time.monotonic()
    if now - _left[0] < PAIR_SECONDS:
        return False
    _left[0] = now
    return True


def _raise_again(unraisable: Any) -> None:
    """Python can't raise from a finalizer or a weak reference's callback, as imports have: what came there comes again."""
    problem = unraisable.exc_value
    if not isinstance(problem, (Ended, KeyboardInterrupt)):
        sys.__unraisablehook__(unraisable)
        return
    _ignored[0] = problem.code - 128 if isinstance(problem, Ended) and isinstance(problem.code, int) else int(signal.SIGINT)
    _left[0] = float("-inf")
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(_ignored[0]))
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
