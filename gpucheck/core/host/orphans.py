"""What a child of ours has started and left behind, in a session of its own too: on Linux it becomes our child, and is ended.

Only the command line asks for it (``adopt``): in somebody else's program their children are none of our business.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator

MARK = "GPUCHECK_PROCESS"  # a variable that every process inherits that we start
_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
_ROUNDS_SECONDS = 0.5  # for what orphans leave behind in their turn
_PAUSE_SECONDS = 0.005
_before: list[set[int]] = []  # children that this process had when it asked for it
_ours: set[int] = set()  # children that were started on purpose


def adopt() -> None:
    """Let orphans become children of this process. Called before there are threads, which the import of ctypes would hold up."""
    if sys.platform == "linux" and not _before:
        _before.append(set(_children()) if _any_child() else set())
        _set_subreaper(1)


def mark() -> dict[str, str]:
    """What to add to the environment of a child; nothing where nobody asked for it."""
    return {MARK: str(os.getpid())} if _before else {}


def started(pid: int) -> None:
    """Note a child that was started on purpose."""
    if _before:
        _ours.add(pid)


def disown() -> None:
    """Take it back, for the program that takes this process' place."""
    if _before:
        _set_subreaper(0)
    _before.clear()


def end() -> None:
    """End every process that a child has left behind, and what those leave behind."""
    until = time.monotonic() + _ROUNDS_SECONDS
    while _ours and _before and _any_child() and time.monotonic() < until:
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
    """Process ids of our children. The kernel need not list them, so that all processes are asked for their parent."""
    own = str(os.getpid()).encode()
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                    if file.read().rpartition(b")")[2].split()[1] == own:
                        yield int(name)


def _is_left_behind(pid: int) -> bool:
    """Whether one of ours has left it behind. An init, or a process that had children before, may be left others' as well."""
    if os.getpid() != 1 and not _before[0]:
        return True
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return f"{MARK}={os.getpid()}".encode() in file.read().split(b"\0")
    return False
