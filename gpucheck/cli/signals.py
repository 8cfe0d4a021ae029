"""Handle the signals that end the command, from its start: remove unfinished work, and exit with 128 + the signal's number."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a supervisor, a closed terminal or connection
PAIR_SECONDS = 2.0  # signals come in pairs: systemd sends SIGHUP after SIGTERM, people press Ctrl-C twice
AGAIN_SECONDS = 0.01
_pair_seconds = [PAIR_SECONDS]
_left = [float("-inf")]  # when a signal was last handled
_ignored = [0]  # the signal whose exception Python ignored


class Ended(SystemExit):
    """A signal ended the command."""


def catch(pair_seconds: float = PAIR_SECONDS) -> None:
    """Raise SystemExit on each signal, except those that nohup(1) or similar ignores. Call in the main thread.

    Args:
        pair_seconds: how long after a signal another one belongs to it, and is ignored.
    """
    _pair_seconds[0] = pair_seconds
    for number in _numbers():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)
    if hasattr(signal, "setitimer"):
        sys.unraisablehook = _raise_again


def release() -> None:
    """Restore the default handlers of a new program."""
    for number in _numbers():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # execve(2) would keep it
        if callable(signal.getsignal(signal.SIGALRM)):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextlib.contextmanager
def interruptible(*names: str) -> Iterator[list[int]]:
    """Raise KeyboardInterrupt inside the block on Ctrl-C, or on the named signals: for a job that keeps its partial result.

    Yields the list of the signals' numbers, which is empty until a signal arrives.
    """
    received: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        if _first():
            received.append(number)
            raise KeyboardInterrupt(number)

    numbers = [number for number in _numbers() if number.name in (names or ("SIGINT",))]
    caught = [number for number in numbers if signal.getsignal(number) is _leave]  # not ignored, and no other handler
    for number in caught:
        signal.signal(number, interrupt)
    try:
        yield received
    finally:
        for number in caught:
            signal.signal(number, _leave)


@contextlib.contextmanager
def uninterruptible() -> Iterator[None]:
    """Ignore the signals inside the block, so that the cleanup completes. Call in the main thread."""
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


def _first() -> bool:
    """Whether to handle a signal: the second of a pair must not interrupt the cleanup or the partial report."""
    now = time.monotonic()
    if now - _left[0] < _pair_seconds[0]:
        return False
    _left[0] = now
    return True


def _raise_again(unraisable: Any) -> None:
    """Resend a signal whose exception Python ignored in a finalizer or a weak reference's callback (imports have these)."""
    problem = unraisable.exc_value
    if not isinstance(problem, (Ended, KeyboardInterrupt)):
        sys.__unraisablehook__(unraisable)
        return
    if isinstance(problem, Ended):
        _ignored[0] = problem.code - 128 if isinstance(problem.code, int) else int(signal.SIGINT)
    else:
        _ignored[0] = problem.args[0] if problem.args else int(signal.SIGINT)
    _left[0] = float("-inf")
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(_ignored[0]))
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
