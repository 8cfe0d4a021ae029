"""Ends the command when its time is over, whatever it waits for: the thread that keeps the time does nothing else."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable

from gpucheck.files import bounded

GRACE_SECONDS = 1.1  # after the limit, for a report that is being written
SWEEP_SECONDS = 0.3  # for ending children and removing what was begun
PREPARE_SECONDS = 0.5  # before that: for a report of what is known by then
_changed = threading.Condition()


class _State:
    """The one watchdog of this process; only ``gpucheck.cli.main`` starts it, because it ends the process."""

    started = False
    end = float("inf")
    exit_code = 3  # where no verdict could be reached
    prepare: Callable[[], str] | None = None
    text = ""
    output = threading.Lock()  # for whoever writes the report; never let go of


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


def say_at_last(prepare: Callable[[], str]) -> None:
    """Set what makes the text to print if the command is ended; it runs beside what stands, and may stand itself."""
    _State.prepare = prepare


def claim_output() -> None:
    """Be the one who writes the report. Does not come back where the watchdog is: the command is being ended."""
    if _State.started:
        _State.output.acquire()


def _watch() -> None:
    _wait(PREPARE_SECONDS)
    with contextlib.suppress(RuntimeError):  # a limit allows no thread
        threading.Thread(target=_prepare, daemon=True).start()
    _wait(0.0)
    until = time.monotonic() + SWEEP_SECONDS
    threads = [threading.Thread(target=work, daemon=True) for work in (_print, _say, _close, _sweep)]  # each of them may hang
    with contextlib.suppress(RuntimeError):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
    os._exit(_State.exit_code)


def _wait(before: float) -> None:
    """Until so long before the end, which may be moved meanwhile."""
    with _changed:
        while (left := _State.end - before - time.monotonic()) > 0:
            _changed.wait(min(left, threading.TIMEOUT_MAX))


def _prepare() -> None:
    with contextlib.suppress(Exception):  # whatever keeps the command from its report
        if _State.prepare is not None:
            _State.text = _State.prepare()


def _print() -> None:
    if _State.text and _State.output.acquire(blocking=False):
        with contextlib.suppress(OSError, ValueError):
            sys.modules["gpucheck.files.write"].write(_State.text)


def _say() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
        os.write(sys.stderr.fileno(), b"gpucheck: ended at its time limit: something that it waits for does not answer\n")


def _close() -> None:
    if "gpucheck.host.children" in sys.modules:
        sys.modules["gpucheck.host.children"].close_all()


def _sweep() -> None:
    if "gpucheck.files.write" in sys.modules:
        sys.modules["gpucheck.files.write"].sweep()
