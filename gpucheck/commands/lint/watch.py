"""Lint again after each change of a file: ``gpucheck lint --watch``."""

import os
import sys
import time
from collections.abc import Callable, Iterable

from gpucheck.cli.screen import say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.lint import search

LOOK_SECONDS = 0.5
BUSY_SHARE = 0.1  # of one processor at most, to look at a large folder
CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # the screen and what was scrolled out of it (ECMA-48 ED, CUP)


def watch(paths: Iterable[str], limit: TimeLimit, seconds: float, lint: Callable[[], bool]) -> None:
    """Call ``lint`` now and after each change, until a signal ends the command.

    Args:
        paths: files and folders.
        limit: of the command.
        seconds: the limit of each search for changes, with its lint run; waiting for a change has none.
        lint: lints and prints; returns whether it changed a file.
    """
    before = None
    while True:
        limit.restart(seconds)
        began = time.monotonic()
        now = _state(paths)
        looked = time.monotonic() - began
        if now != before:
            if sys.stdout is not None and sys.stdout.isatty():
                show(CLEAR)
            before = _state(paths) if lint() else now  # its own corrections are no reason to lint again
            say("gpucheck: waiting for a change of a file; Ctrl-C ends")
        limit.set_end(float("inf"))
        time.sleep(max(LOOK_SECONDS, looked / BUSY_SHARE))


def _state(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    return {file: _changed(file) for file in search.files(paths)}


def _changed(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:  # it was removed, or will be written in a moment
        return None
    return status.st_mtime_ns, status.st_size
