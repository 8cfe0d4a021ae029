"""Lint again after each change of a file: ``gpucheck lint --watch``."""

import os
import sys
import time
from collections.abc import Callable, Iterable

from gpucheck.cli.screen import say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.lint import search

POLL_SECONDS = 0.5
CPU_SHARE_MAX = 0.1  # share of one processor for the search of a large folder
CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # clears the screen and the scrollback buffer (ECMA-48 ED, CUP)


def watch(paths: Iterable[str], limit: TimeLimit, seconds: float, lint: Callable[[], bool]) -> None:
    """Call ``lint`` now and after each change, until a signal ends the command.

    Args:
        paths: files and folders.
        limit: the command's time limit.
        seconds: the limit of each search with its lint run; there is no limit on waiting for a change.
        lint: lints and prints; returns whether it changed a file.
    """
    before = None
    while True:
        limit.restart(seconds)
        started = time.monotonic()
        now = _state(paths)
        elapsed = time.monotonic() - started
        if now != before:
            if sys.stdout is not None and sys.stdout.isatty():
                show(CLEAR)
            before = _state(paths) if lint() else now  # ignore the corrections by --fix
            say("gpucheck: waiting for a change of a file; Ctrl-C ends")
        limit.set_end(float("inf"))
        time.sleep(max(POLL_SECONDS, elapsed / CPU_SHARE_MAX))


def _state(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    return {file: _version(file) for file in search.files(paths)}


def _version(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:  # the file was removed, or is about to be replaced
        return None
    return status.st_mtime_ns, status.st_size
