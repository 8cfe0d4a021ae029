"""The time limit of a command: a dedicated thread ends the process at the limit, even if other threads hang."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gpucheck.core.system import bounded

if TYPE_CHECKING:
    from gpucheck.core.model.progress import Progress

STANDARD_OUTPUT = "standard output"
Write = Callable[[], object]
Result = TypeVar("Result")
_locks: dict[object, Any] = {}  # one for each output; never released
_enforced: list[TimeLimit] = []  # the one limit that ends this process


class EndingSeconds(NamedTuple):
    """The seconds that each part of ending a command at its limit may take."""

    grace: float = 1.0  # after the limit, for a report that is being written; meanwhile the partial report is rendered
    sweep: float = 0.4  # then, for writing the partial report, ending children and removing unfinished files
    write: float = 0.25  # part of ``sweep``
    redaction: float = 0.5  # of a report; text that is not redacted in time is omitted


DEFAULT = EndingSeconds()


class TimeLimit:
    """The time limit of a command, and the partial result written at the limit. Times are in ``time.monotonic()`` seconds."""

    def __init__(self, started: float, ending: EndingSeconds = DEFAULT) -> None:
        """Start without a limit.

        Args:
            started: when the command started.
            ending: how long it may take to end.
        """
        self.started, self.ending = started, ending
        self.end = float("inf")
        self.exit_code = 3  # at the limit: no verdict could be reached
        self._grace_seconds = ending.grace
        self._changed = threading.Condition()
        self._prepare: Callable[[], Iterable[Write]] | None = None

    @property
    def reading_end(self) -> float:
        """The time at which a command that only reads must stop reading: a little before its end."""
        return bounded.reading_end(self.started, self.end)

    def enforce(self) -> None:
        """Start the thread; only for the command's own process, because the thread ends it."""
        with contextlib.suppress(RuntimeError):  # a resource limit forbids threads
            threading.Thread(target=self._watch, name="time limit", daemon=True).start()
            _enforced.append(self)

    def set(self, seconds: float, grace_seconds: float = 0.0) -> None:
        """Set the end, in seconds after the command's start.

        Args:
            seconds: until the command stops waiting for files; ``ending.grace`` later the process is ended.
            grace_seconds: added to ``ending.grace``.
        """
        self.set_end(self.started + seconds, grace_seconds)

    def restart(self, seconds: float) -> None:
        """Restart the clock, for another part of the command."""
        self.started = time.monotonic()
        self.set(seconds)

    def set_end(self, end: float, grace_seconds: float = 0.0) -> None:
        """Set the end as a point in time; see ``set``."""
        with self._changed:
            self.end, self._grace_seconds = end, self.ending.grace + grace_seconds
            self._changed.notify()
        if self in _enforced:
            bounded.end_at(end)

    def write_partial(self, progress: Progress[Result], writes: Callable[[Result], Iterable[Write]]) -> None:
        """Set how the partial result is written if the command reaches the limit.

        Args:
            progress: progress of the run.
            writes: renders a partial result; each function it returns writes one output. All run in threads, and may hang.
        """

        def prepare() -> Iterable[Write]:
            partial = progress.snapshot()
            return () if partial is None else writes(partial)

        self._prepare = prepare

    def _watch(self) -> None:
        prepared_for, writes = None, list[Write]()
        while prepared_for != self.end:  # the end may change, for another check
            self._wait(self.ending.grace)
            prepared_for, writes = self.end, []
            with contextlib.suppress(RuntimeError):  # a resource limit forbids threads
                threading.Thread(target=self._render, args=(writes,), daemon=True).start()
            self._wait(0.0)
        started = time.monotonic()
        threads = [threading.Thread(target=work, daemon=True) for work in (*map(_quietly, writes), _say, _close, _sweep)]
        with contextlib.suppress(RuntimeError):
            for thread in threads[:-1]:
                thread.start()
            _join(threads[: len(writes)], started + self.ending.write)
            threads[-1].start()  # after the writes: a temporary file that still exists is incomplete
            _join(threads, started + self.ending.sweep)
        os._exit(self.exit_code)

    def _wait(self, before: float) -> None:
        """Wait until ``before`` seconds before the process is ended, even if the end changes."""
        with self._changed:
            while (left := self.end + self._grace_seconds - before - time.monotonic()) > 0:
                self._changed.wait(min(left, threading.TIMEOUT_MAX))

    def _render(self, writes: list[Write]) -> None:
        with contextlib.suppress(Exception):  # the cause of the hang may raise here
            if self._prepare is not None:
                for write in self._prepare():
                    writes.append(write)


def enforced() -> TimeLimit | None:
    """Return the limit that ends this process; None if the process is not the command's own."""
    return _enforced[0] if _enforced else None


def lock(output: object = STANDARD_OUTPUT) -> None:
    """Acquire the exclusive right to write to an output. Blocks forever if another thread holds it."""
    if _enforced:
        _locks.setdefault(output, threading.RLock()).acquire()


def _join(threads: list[threading.Thread], until: float) -> None:
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _quietly(write: Write) -> Callable[[], None]:
    def work() -> None:
        with contextlib.suppress(Exception):
            write()

    return work


def _say() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
        os.write(
            sys.stderr.fileno(),
            b"gpucheck: ended at its time limit: a file system or driver did not respond, or the processors are busy\n",
        )


def _close() -> None:
    if "gpucheck.core.host.children" in sys.modules:
        with contextlib.suppress(AttributeError):  # it is being imported
            sys.modules["gpucheck.core.host.children"].close_all()


def _sweep() -> None:
    if "gpucheck.core.system.write" in sys.modules:
        sys.modules["gpucheck.core.system.write"].sweep()
