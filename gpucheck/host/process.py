"""Starting, watching and ending one child process.

A child runs in its own session, so that it is killed with everything it started. Its output goes to anonymous files, not
pipes: nothing blocks when it writes much, and what it wrote survives its crash. Its standard input is a pipe that we hold:
when we are gone, it reads the end of file and ends itself (``gpucheck/child/runtime.py``).
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import IO, Any

from gpucheck.host import LOG_LIMIT_BYTES

REAP_SECONDS = 1.0  # how long a killed child may take to go before it is abandoned
POLL_SECONDS = 0.02


class Capture:
    """An anonymous file a child writes to and we read from, without a shared position."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            self.file: IO[bytes] = os.fdopen(os.memfd_create("gpucheck"), "r+b", buffering=0)
        else:
            import tempfile

            self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close()

    def read(self, offset: int = 0, count: int | None = None) -> bytes:
        """What was written from an offset on; ``count`` bytes of it at most."""
        if hasattr(os, "pread"):
            parts: list[bytes] = []
            left = 1 << 62 if count is None else count
            while left and (part := os.pread(self.file.fileno(), min(1 << 20, left), offset)):
                parts.append(part)
                offset += len(part)
                left -= len(part)
            return b"".join(parts)
        with open(self.file.name, "rb") as again:
            again.seek(offset)
            return again.read(-1 if count is None else count)

    def text(self, limit: int = LOG_LIMIT_BYTES) -> str:
        """What was written; of more than ``limit`` bytes the beginning, what was left out, and three times as much of the end."""
        size = os.fstat(self.file.fileno()).st_size
        if size <= limit:
            return self.read().decode("utf-8", "replace")
        begun = self.read(0, limit // 4).rpartition(b"\n")[0]
        ended = self.read(size - (limit - limit // 4)).partition(b"\n")[2]
        left_out = f"\n... {size - len(begun) - len(ended)} bytes left out ...\n"
        return begun.decode("utf-8", "replace") + left_out + ended.decode("utf-8", "replace")

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(OSError):
            self.file.close()


class Process:
    """One running child."""

    def __init__(self, argv: list[str], env: Mapping[str, str], *, lifeline: bool = False) -> None:
        """Start it.

        Args:
            argv: program and arguments; no shell sees them.
            env: its whole environment.
            lifeline: True: its standard input is a pipe we hold open; False: /dev/null.

        Raises:
            OSError: it could not be started.
        """
        self.out, self.err = Capture(), Capture()
        self.started = time.monotonic()
        self.abandoned = False
        self.late = False
        try:
            self._popen = subprocess.Popen(
                argv,
                env=dict(env),
                stdin=subprocess.PIPE if lifeline else subprocess.DEVNULL,
                stdout=self.out.file,
                stderr=self.err.file,
                start_new_session=True,
            )
        except BaseException:
            self.close()
            raise
        self._pidfd = _pidfd(self._popen.pid)

    @property
    def pid(self) -> int:
        """The child's process id, which is also its group's."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        return self._popen.poll()

    def tell(self, line: bytes) -> None:
        """Write one line to its standard input."""
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._popen.stdin.write(line + b"\n")
                self._popen.stdin.flush()

    def wait(self, deadline: float, until: Callable[[], bool] | None = None) -> bool:
        """Wait until it ended, ``until`` holds, or the monotonic ``deadline`` passed; True in the first two cases."""
        while True:
            if (until is not None and until()) or self.returncode is not None:
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            pause = min(left, POLL_SECONDS if until is not None or self._pidfd is None else left)
            if self._pidfd is None:
                time.sleep(min(pause, 0.005))
            else:
                poller = select.poll()
                poller.register(self._pidfd, select.POLLIN)
                poller.poll(max(1, int(pause * 1000)))

    def starved(self) -> bool:
        """Whether it waits for a processor and has had less than half of one so far: then its silence is this machine's load."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()  # proc(5), from the third field on
            used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):
            return False
        return fields[0] == b"R" and used < (time.monotonic() - self.started) / 2

    def kill(self) -> None:
        """End it and everything in its group; a child stuck in the kernel is abandoned, not waited for."""
        if self.returncode is None:
            self._signal()
            if not self.wait(time.monotonic() + REAP_SECONDS):
                self.abandoned = True
        else:
            self._signal()  # what it started may have outlived it

    def reap(self) -> None:
        """After ``kill``: take in what it had started, which becomes ours where this process is an init (a container's first)."""
        if sys.platform == "win32" or self.abandoned:
            return
        deadline = time.monotonic() + REAP_SECONDS
        with contextlib.suppress(ChildProcessError):  # none left: the usual case
            while time.monotonic() < deadline:
                if os.waitpid(-self._popen.pid, os.WNOHANG)[0] == 0:
                    time.sleep(0.002)

    def how(self) -> str:
        """How it ended, in words."""
        if self.abandoned:
            return "could not be killed"
        if self.late:
            return "timed out"
        status = self.returncode
        if status is None:
            return "running"
        if status < 0:
            return f"killed by {signal_name(-status)}"
        return "finished" if status == 0 else f"exited with status {status}"

    def close(self) -> None:
        """Release files and pipes."""
        for capture in (self.out, self.err):
            capture.close()
        popen: Any = getattr(self, "_popen", None)
        if popen is not None and popen.stdin is not None:
            with contextlib.suppress(OSError):
                popen.stdin.close()
        if getattr(self, "_pidfd", None) is not None:
            with contextlib.suppress(OSError):
                os.close(self._pidfd or -1)
            self._pidfd = None

    def _signal(self) -> None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self._popen.kill()
            else:
                os.killpg(self._popen.pid, signal.SIGKILL)


def signal_name(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _pidfd(pid: int) -> int | None:
    """A file descriptor that becomes readable when the process ends; None where the kernel has none."""
    if hasattr(os, "pidfd_open") and hasattr(select, "poll"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None
