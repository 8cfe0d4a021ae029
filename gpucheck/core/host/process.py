"""Start, watch and end one child process.

A child runs in its own session, so that it is killed with everything it started. A thread reads its output
(``stream.py``), so that the child is not blocked for long. Its standard input is a pipe that we hold: when this process ends,
the child reads the end of file and ends itself (``gpucheck/core/child/runtime.py``).
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping

from gpucheck.core.host import LOG_LIMIT_BYTES
from gpucheck.core.host.stream import POLLS, Stream, follow

REAP_SECONDS = 1.0  # how long a killed child may take to end before it is abandoned
POLL_SECONDS = 0.02
# vfork(2) stops the whole interpreter until the program is found, which can hang in a folder of PATH.
subprocess._USE_VFORK = False  # type: ignore[attr-defined]
SETTLE_SECONDS = 0.5


class Process:
    """One running child."""

    def __init__(
        self,
        argv: list[str],
        env: Mapping[str, str],
        *,
        report_bytes: int | None = None,
        log_bytes: int = LOG_LIMIT_BYTES,
        folder: str | None = None,
    ) -> None:
        """Start the process.

        Args:
            argv: program and arguments; run without a shell.
            env: its whole environment.
            report_bytes: for a gpucheck child, whose standard output is its report and whose standard input stays open: how
                much of the report is kept, from its start. None: another program; its standard input is empty.
            log_bytes: how much of its other output is kept: a quarter from the start, the rest from the end.
            folder: its current folder; None: ours.

        Raises:
            OSError: the process could not be started.
        """
        log = (log_bytes // 4, log_bytes - log_bytes // 4)
        self.report_bytes = report_bytes
        self.out = Stream(*log) if report_bytes is None else Stream(report_bytes, 0)
        self.err = Stream(*log)
        self.started = time.monotonic()
        self.abandoned = False
        self.late = False
        empty = _empty() if report_bytes is None else None
        try:
            self._popen = subprocess.Popen(
                argv,
                env=dict(env),
                cwd=folder,
                stdin=subprocess.PIPE if empty is None else empty,
                stdout=self.out.writer,
                stderr=self.err.writer,
                start_new_session=True,
            )
        except BaseException:
            self.out.close()
            self.err.close()
            raise
        finally:
            os.close(self.out.writer)
            os.close(self.err.writer)
            if empty is not None:
                os.close(empty)
        self._pidfd = _pidfd(self._popen.pid)
        self._followers = self._follow()

    @property
    def pid(self) -> int:
        """The child's process id, which is also its group id."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        return self._popen.poll()

    def write_line(self, line: bytes) -> None:
        """Write one line to its standard input."""
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._popen.stdin.write(line + b"\n")
                self._popen.stdin.flush()

    def wait(self, deadline: float, until: Callable[[], bool] | None = None) -> bool:
        """Wait until it ends, ``until`` returns True, or the monotonic ``deadline`` passes; return False only for the last."""
        while True:
            if (until is not None and until()) or self.returncode is not None:
                self._settle()
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if not self._followers:
                self.out.drain()
                self.err.drain()
            pause = min(left, left if until is None and self._pidfd is not None and self._followers else POLL_SECONDS)
            if self._pidfd is None:
                time.sleep(min(pause, 0.005))
            else:
                poller = select.poll()
                poller.register(self._pidfd, select.POLLIN)
                poller.poll(max(1, int(pause * 1000)))

    def starved(self) -> bool:
        """Whether it is stopped, or waits for a processor after less than half of one so far, so its silence is inconclusive."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()  # proc(5), from the third field on
            used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):
            return False
        return fields[0] in (b"T", b"t") or (fields[0] == b"R" and used < (time.monotonic() - self.started) / 2)

    def _follow(self) -> list[threading.Thread]:
        """Start threads that read its output; if a resource limit forbids threads, ``wait`` reads it."""
        groups = [[self.out, self.err]] if POLLS else [[self.out], [self.err]]
        threads = [threading.Thread(target=follow, args=(group,), name=f"output of {self.pid}", daemon=True) for group in groups]
        try:
            for thread in threads:
                thread.start()
        except RuntimeError:
            return []
        return threads

    def signal(self) -> None:
        """Kill its process group, also after its own end: processes that it started may still run."""
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self._popen.kill()
            elif self.returncode is None or not self._number_is_reused():
                os.killpg(self._popen.pid, signal.SIGKILL)

    def _number_is_reused(self) -> bool:
        """Whether another process has its number, after it was reaped. POSIX reuses a number only after its group has ended."""
        try:
            os.kill(self._popen.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # another user's process
            pass
        return True

    def kill(self, until: float | None = None) -> None:
        """Kill its process group and wait; a child that is stuck in the kernel is abandoned at ``until``."""
        running = self.returncode is None
        self.signal()
        if running and not self.wait(time.monotonic() + REAP_SECONDS if until is None else until):
            self.abandoned = True

    def reap(self) -> None:
        """Reap the processes it started, after ``kill``: they become our children if this process is a container's init."""
        if sys.platform == "win32" or self.abandoned:
            return
        deadline = time.monotonic() + REAP_SECONDS
        with contextlib.suppress(ChildProcessError):  # none left, usually
            while time.monotonic() < deadline:
                if os.waitpid(-self._popen.pid, os.WNOHANG)[0] == 0:
                    time.sleep(0.002)

    def how(self) -> str:
        """Return how it ended, as text."""
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
        """Close files and pipes."""
        self.out.close()
        self.err.close()
        with contextlib.suppress(OSError):
            if self._popen.stdin is not None:
                self._popen.stdin.close()
        pidfd, self._pidfd = self._pidfd, None
        if pidfd is not None:
            with contextlib.suppress(OSError):
                os.close(pidfd)

    def _settle(self) -> None:
        """Wait until the threads have read everything, after the child's end; only where threads alone read (Windows)."""
        if not POLLS and self.returncode is not None:
            for thread in self._followers:
                thread.join(SETTLE_SECONDS)


def _empty() -> int:
    """Return an empty standard input; a chroot may have no /dev/null."""
    reader, writer = os.pipe()
    os.close(writer)
    return reader


def signal_name(number: int) -> str:
    """Return the signal's name: SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _pidfd(pid: int) -> int | None:
    """Return a file descriptor that becomes readable when the process ends; None if the kernel lacks pidfd_open(2)."""
    if hasattr(os, "pidfd_open") and hasattr(select, "poll"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None
