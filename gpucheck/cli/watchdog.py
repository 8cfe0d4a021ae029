"""Ends the command when its time is over, whatever it waits for: the thread that keeps the time does nothing else."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from gpucheck.core.system import bounded

GRACE_SECONDS = 1.0  # after the limit, for a report that is being written
SWEEP_SECONDS = 0.4  # for writing what is known, ending children and removing what was begun
WRITE_SECONDS = 0.25  # of them
PREPARE_SECONDS = GRACE_SECONDS  # before that: for a report of what is known by then
STANDARD_OUTPUT = "standard output"
Write = Callable[[], None]
_changed = threading.Condition()


class _State:
    """The one watchdog of this process; only ``gpucheck.cli.main`` starts it, because it ends the process."""

    started = False
    end = float("inf")
    exit_code = 3  # where no verdict could be reached
    prepare: Callable[[], Iterable[Write]] | None = None
    writes: list[Write]
    claims: ClassVar[dict[object, Any]] = {}  # for whoever writes there; never let go of


def start() -> None:
    """Start it without a limit."""
    with contextlib.suppress(RuntimeError):  # a limit allows no thread
        threading.Thread(target=_watch, name="watchdog", daemon=True).start()
        _State.started = True


def is_started() -> bool:
    """Whether this process is the command's own."""
    return _State.started


def end_at(end: float, grace_seconds: float = 0.0) -> None:
    """Set the end of the command, as ``time.monotonic()`` counts.

    Args:
        end: after it no file is waited for; a little later the command is ended.
        grace_seconds: how much later, beside the usual.
    """
    if not _State.started:
        return
    bounded.end_at(end)
    with _changed:
        _State.end = end + GRACE_SECONDS + grace_seconds
        _changed.notify()


def exit_with(code: int) -> None:
    """Set the exit code of a command that is ended."""
    _State.exit_code = code


def say_at_last(prepare: Callable[[], Iterable[Write]]) -> None:
    """Set what is written if the command is ended: prepared beside what stands, it may stand itself, as each write may."""
    _State.prepare = prepare


def claim(target: object = STANDARD_OUTPUT) -> None:
    """Be the one who writes there. Does not come back where another thread is: it or the end of the command is at work."""
    if _State.started:
        _State.claims.setdefault(target, threading.RLock()).acquire()


def _watch() -> None:
    prepared_for = None
    while prepared_for != _State.end:  # which may be moved, for another check
        _wait(PREPARE_SECONDS)
        prepared_for, _State.writes = _State.end, []
        with contextlib.suppress(RuntimeError):  # a limit allows no thread
            threading.Thread(target=_prepare, args=(_State.writes,), daemon=True).start()
        _wait(0.0)
    until = time.monotonic() + SWEEP_SECONDS
    writes = [*map(_quietly, _State.writes)]
    threads = [threading.Thread(target=work, daemon=True) for work in (*writes, _say, _close, _sweep)]  # each of them may hang
    with contextlib.suppress(RuntimeError):
        for thread in threads[:-1]:
            thread.start()
        _join(threads[: len(writes)], until - SWEEP_SECONDS + WRITE_SECONDS)
        threads[-1].start()  # what is still aside by now is no file
        _join(threads, until)
    os._exit(_State.exit_code)


def _wait(before: float) -> None:
    """Until so long before the end, wherever it is by then."""
    with _changed:
        while (left := _State.end - before - time.monotonic()) > 0:
            _changed.wait(min(left, threading.TIMEOUT_MAX))


def _join(threads: list[threading.Thread], until: float) -> None:
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _prepare(writes: list[Write]) -> None:
    with contextlib.suppress(Exception):  # whatever keeps the command from its report
        if _State.prepare is not None:
            for write in _State.prepare():
                writes.append(write)


def _quietly(write: Write) -> Write:
    def work() -> None:
        with contextlib.suppress(Exception):
            write()

    return work


def _say() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
        os.write(sys.stderr.fileno(), b"gpucheck: ended at its time limit: something that it waits for does not answer\n")


def _close() -> None:
    if "gpucheck.core.host.children" in sys.modules:
        sys.modules["gpucheck.core.host.children"].close_all()


def _sweep() -> None:
    if "gpucheck.core.system.write" in sys.modules:
        sys.modules["gpucheck.core.system.write"].sweep()
