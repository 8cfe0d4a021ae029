"""One line on a terminal's standard error that says what a run is waiting for. No threads: the pipeline's tick drives it."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

from gpucheck.reports.shared.words import clean, duration

SILENT_SECONDS = 0.5  # a run that is done by then shows no progress
LONG_SECONDS = 10.0  # without any change, that is unusual


class Progress:
    """A line that overwrites itself, where the stream is a terminal; elsewhere nothing."""

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        width: Callable[[], int] | None = None,
    ) -> None:
        """Begin to count.

        Args:
            stream: where to write; standard error unless given.
            clock: seconds, never going back.
            width: columns of the terminal now; rich's answer unless given.
        """
        self._stream = stream or sys.stderr
        self._clock = clock
        self._started = self._changed = clock()
        self._shown = ""
        self._last: tuple[list[str], str | None] | None = None
        self._open = self._stream.isatty()
        self._width: Callable[[], int] = width or (lambda: 80)
        if self._open and width is None:
            from rich.console import Console  # only where there is a terminal to ask

            console = Console(file=self._stream)
            self._open = not console.is_dumb_terminal
            self._width = lambda: console.size.width
        self._ascii = not (self._stream.encoding or "").lower().startswith("utf")

    def update(self, pending: list[str], activity: str | None) -> None:
        """Show what is awaited.

        Args:
            pending: names of the probes that have not answered.
            activity: what the longest of them is doing ("training one_device on GPU:0 (float32)"), if it is known.
        """
        if not self._open:
            return
        now = self._clock()
        if (pending, activity) != self._last:
            self._last, self._changed = (list(pending), activity), now
        elapsed = now - self._started
        if elapsed < SILENT_SECONDS:
            return
        state = activity or (f"waiting for {', '.join(pending)}" if pending else "judging")
        late = f" · unusually long: {duration(now - self._changed)}" if now - self._changed >= LONG_SECONDS else ""
        self._show(clean(f"{elapsed:.0f} s{late} · {state}", self._ascii))

    def close(self) -> None:
        """Take the line away; later updates show nothing."""
        if self._open and self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
        self._open = False

    def _show(self, line: str) -> None:
        line = line[: max(self._width() - 1, 0)]
        if line != self._shown:
            self._write("\r" + line.ljust(len(self._shown)) + ("\r" + line if len(line) < len(self._shown) else ""))
            self._shown = line

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal went away: the run goes on without it
            self._open = False
