"""A progress line on standard error with what a run is waiting for. It uses no thread: the pipeline's tick updates it."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from gpucheck.core.model.progress import Activity
from gpucheck.core.reports.shared import waiting
from gpucheck.core.reports.shared.words import clean

SILENT_SECONDS = 0.5  # shorter runs show no progress
SHORTEST = 24  # minimum characters for the activity, next to its typical time or the bar
CELLS = 10  # of the bar of a --full run
LEAST_LEFT = 5.0  # seconds; a shorter rest is not shown


class Progress:
    """A line that overwrites itself if the stream is a terminal; else nothing is written."""

    def __init__(
        self,
        phases: tuple[str, ...],
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        width: Callable[[], int] = lambda: 80,
        soak_seconds: float = 0.0,
    ) -> None:
        """Start the clock.

        Args:
            phases: the phases of the run, in order; see ``waiting.phases``.
            stream: where to write.
            clock: a monotonic clock, in seconds.
            width: returns the columns of the terminal.
            soak_seconds: of a --full run, for the estimate of its end.
        """
        self._stream = stream
        self._clock = clock
        self._started = self._last = clock()  # when a child was last active
        self._phases = phases
        self._since: dict[Activity, float] = {}  # when each was first seen
        self._most = 0  # largest number of pending items
        self._reached = waiting.LOOK  # the current phase
        self._full, self._soak = waiting.EXPERIMENT in phases, soak_seconds
        self._passed = self._whole = 0.0  # completed share of a --full run, and the estimated seconds of the whole run
        self._shown = ""
        self._open = self._stream.isatty()
        self._width = width
        self._ascii = not (getattr(self._stream, "encoding", None) or "").lower().startswith("utf")

    def update(self, pending: list[str], doing: list[Activity]) -> None:
        """Show what the run waits for.

        Args:
            pending: names of the probes that still run, or of what is not yet measured.
            doing: what each child does; of several, the line shows a late one, else the one of the last phase.
        """
        if not self._open:
            return
        now = self._clock()
        self._most = max(self._most, len(pending))
        if doing:
            self._last = now
        self._since = {activity: self._since.get(activity, now) for activity in doing}
        if now - self._started < SILENT_SECONDS:
            return
        waits = [(waiting.wait(activity), now - since) for activity, since in self._since.items()]
        late = max((wait for wait in waits if _is_late(*wait)), key=lambda wait: wait[1], default=None)
        kind, seconds = late or max(waits, key=lambda wait: self._place(wait[0]), default=(waiting.JUDGING, now - self._last))
        if not doing and pending:  # between two stages of a child, or before the first
            kind = waiting.Wait(self._reached, f"Waiting for {', '.join(pending)}")
        elif not doing and self._reached == waiting.MEASURE:
            kind = waiting.SUMMING_UP
        elif late is None:
            self._reached = kind.phase
        if self._full and kind.phase != waiting.MEASURE:
            self._show(self._bar(doing, now - self._started), kind.words, f" · {seconds:.0f} s", self._left(now - self._started))
            return
        typical = "" if kind.typical is None else f" ({_range(*kind.typical)})"
        self._show(self._count(kind, pending), kind.words, f" · {seconds:.0f} s", typical)

    def _bar(self, doing: list[Activity], elapsed: float) -> str:
        """What has passed of a --full run, as a bar; it never goes back."""
        passed = max(map(waiting.share, doing), default=0.0)
        if passed > self._passed:
            worked = elapsed - self._soak * (passed >= waiting.SOAKED)
            self._passed, self._whole = passed, worked / passed + self._soak
        full = int(self._passed * CELLS)
        done, rest = "#." if self._ascii else "█░"
        return done * full + rest * (CELLS - full) + " "

    def _left(self, elapsed: float) -> str:
        left = self._whole - elapsed
        return f" · about {10 * round(left / 10) if left >= 15 else 10} s left" if left >= LEAST_LEFT else ""

    def _place(self, kind: waiting.Wait) -> int:
        return self._phases.index(kind.phase) if kind.phase in self._phases else 0

    def _count(self, kind: waiting.Wait, pending: list[str]) -> str:
        """Return the position, "[2/5] ", among the measurements, else among the run's phases."""
        if kind.phase == waiting.MEASURE:
            return f"[{self._most - len(pending) + 1}/{self._most}] " if pending else ""
        return f"[{self._place(kind) + 1}/{len(self._phases)}] "

    def close(self) -> None:
        """Remove the line; later updates show nothing."""
        if self._open and self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
        self._open = False

    def _show(self, count: str, words: str, time: str, typical: str) -> None:
        """Write the line so that it fits: the words are shortened as far as readable, then the typical time is omitted."""
        room = max(self._width() - 1, 0)
        if len(count + words + time + typical) > room and room - len(count + time + typical) < SHORTEST:
            typical = ""
        space = max(room - len(count + time + typical), 0)
        words = words if len(words) <= space else f"{words[: max(space - 1, 0)].rstrip()}…"
        line = clean(count + words + time + typical, self._ascii)[:room]
        if line != self._shown:
            self._write("\r" + line.ljust(len(self._shown)) + ("\r" + line if len(line) < len(self._shown) else ""))
            self._shown = line

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone; the run continues without it
            self._open = False


@contextlib.contextmanager
def line(host: Any, stream: TextIO, width: Callable[[], int] = lambda: 80) -> Iterator[Callable[[list[str]], None]]:
    """Yield a function to call while waiting for what the children of a ``Host`` do. The line is removed on exit."""
    soak_seconds = 60 * host.request.soak_minutes
    progress = Progress(waiting.phases(host.request), stream, width=width, soak_seconds=soak_seconds)
    with contextlib.closing(progress):
        yield lambda pending: progress.update(pending, host.activities())


def _is_late(kind: waiting.Wait, seconds: float) -> bool:
    return kind.typical is not None and seconds > 2 * kind.typical[1]


def _range(least: float, most: float) -> str:
    return f"usually {least:.0f} to {most:.0f}" if least else f"usually below {most:.0f}"
