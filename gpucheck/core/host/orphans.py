"""Processes that our children started and left running, even in another session: on Linux they become our children.

Only the command line enables this (``adopt``): in a user's program, gpucheck must not touch the program's own children.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator

MARK = "GPUCHECK_PROCESS"  # environment variable that our processes inherit
_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
_ROUNDS_SECONDS = 0.5  # also for the orphans of ended orphans
_PAUSE_SECONDS = 0.005
_before: list[set[int]] = []  # the children that this process had before ``adopt``
_ours: set[int] = set()  # children that gpucheck started


def adopt() -> None:
    """Make orphans children of this process. Call before threads start, which the import of ctypes would delay."""
    if sys.platform == "linux" and not _before:
        _before.append(set(_children()) if _any_child() else set())
        _set_subreaper(1)


def mark() -> dict[str, str]:
    """Return the variables to add to a child's environment; empty without ``adopt``."""
    return {MARK: str(os.getpid())} if _before else {}


def started(pid: int) -> None:
    """Record a child that gpucheck started."""
    if _before:
        _ours.add(pid)


def disown() -> None:
    """Undo ``adopt``, for the program that replaces this process."""
    if _before:
        _set_subreaper(0)
    _before.clear()


def end() -> None:
    """Kill all processes that children left running, and their own orphans."""
    until = time.monotonic() + _ROUNDS_SECONDS
    while _before and _any_child() and time.monotonic() < until:
        found = [pid for pid in _children() if pid not in _ours and pid not in _before[0] and _is_left_behind(pid)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)
        for pid in found:
            with contextlib.suppress(OSError):
                os.waitpid(pid, os.WNOHANG)


def _set_subreaper(value: int) -> None:
    with contextlib.suppress(ImportError, OSError, AttributeError):  # a Python without ctypes
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0)


def _any_child() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> Iterator[int]:
    """Yield the process ids of our children, found by every process' parent, because not every kernel lists children."""
    own = str(os.getpid()).encode()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                    if file.read().rpartition(b")")[2].split()[1] == own:
                        yield int(name)


def _is_left_behind(pid: int) -> bool:
    """Whether one of our children left it running. MARK decides if this process may also adopt other programs' orphans."""
    if os.getpid() != 1 and not _before[0]:
        return True
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return f"{MARK}={os.getpid()}".encode() in file.read().split(b"\0")
    return False
