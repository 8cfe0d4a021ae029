"""One line on a terminal's standard error that says what a run is waiting for. No threads: the pipeline's tick drives it."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

from gpucheck.core.model.activity import Activity
from gpucheck.core.reports.shared import waiting
from gpucheck.core.reports.shared.words import clean

SILENT_SECONDS = 0.5  # a run that is done by then shows no progress
SHORTEST = 24  # characters of what is waited for, beside the usual time


class Progress:
    """A line that overwrites itself, where the stream is a terminal; elsewhere nothing."""

    def __init__(
        self,
        phases: tuple[str, ...],
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        width: Callable[[], int] | None = None,
        shown: bool | None = None,
    ) -> None:
        """Begin to count.

        Args:
            phases: what the run does, one after the other; see ``waiting.phases``.
            stream: where to write; standard error unless given.
            clock: seconds, never going back.
            width: columns of the terminal now; rich's answer unless given.
            shown: whether the stream overwrites a line; as a terminal does, unless given.
        """
        self._stream = stream or sys.stderr
        self._clock = clock
        self._started = self._last = clock()  # when a child was last at work
        self._phases = phases
        self._since: dict[Activity, float] = {}  # when each was first seen
        self._most = 0  # of what was pending at once
        self._reached = waiting.LOOK  # the phase
        self._shown = ""
        self._open = self._stream.isatty() if shown is None else shown
        self._width: Callable[[], int] = width or (lambda: 80)
        if self._open and width is None:
            from rich.console import Console  # only where there is a terminal to ask

            console = Console(file=self._stream)
            self._open = not console.is_dumb_terminal
            self._width = lambda: console.size.width
        self._ascii = not (getattr(self._stream, "encoding", None) or "").lower().startswith("utf")

    def update(self, pending: list[str], doing: list[Activity]) -> None:
        """Show what is awaited.

        Args:
            pending: names of the probes that have not answered, or of what is still to be measured.
            doing: what each child does; of several, the line is about the one that is late, else about the last phase.
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
        usual = "" if kind.usual is None else f" ({_range(*kind.usual)})"
        self._show(self._count(kind, pending), kind.words, f" · {seconds:.0f} s", usual)

    def _place(self, kind: waiting.Wait) -> int:
        return self._phases.index(kind.phase) if kind.phase in self._phases else 0

    def _count(self, kind: waiting.Wait, pending: list[str]) -> str:
        """Which part of how many: of what is measured, else of the run's phases."""
        if kind.phase == waiting.MEASURE:
            return f"[{self._most - len(pending) + 1}/{self._most}] " if pending else ""
        return f"[{self._place(kind) + 1}/{len(self._phases)}] "

    def close(self) -> None:
        """Take the line away; later updates show nothing."""
        if self._open and self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
        self._open = False

    def _show(self, count: str, words: str, time: str, usual: str) -> None:
        """The line, which fits: first the words are shortened to a readable rest, then the usual time is left out."""
        room = max(self._width() - 1, 0)
        if len(count + words + time + usual) > room and room - len(count + time + usual) < SHORTEST:
            usual = ""
        space = max(room - len(count + time + usual), 0)
        words = words if len(words) <= space else f"{words[: max(space - 1, 0)].rstrip()}…"
        line = clean(count + words + time + usual, self._ascii)[:room]
        if line != self._shown:
            self._write("\r" + line.ljust(len(self._shown)) + ("\r" + line if len(line) < len(self._shown) else ""))
            self._shown = line

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal went away: the run goes on without it
            self._open = False


def _is_late(kind: waiting.Wait, seconds: float) -> bool:
    return kind.usual is not None and seconds > 2 * kind.usual[1]


def _range(least: float, most: float) -> str:
    return f"usually {least:.0f} to {most:.0f}" if least else f"usually below {most:.0f}"
