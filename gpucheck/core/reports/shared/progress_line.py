"""A progress line on standard error, or in a notebook: what a run is waiting for, and how long that typically takes.

It uses no thread: the pipeline's tick updates it.

The seconds are those of recorded runs. On an H200 node of 16 cores: TensorFlow 2.21's import 3.8 to 5 s, its list of devices 0.3,
nvmlInit 0.01 and all of NVML 0.13, a first step 4.3 to 15 s (without and with XLA). On a laptop and a machine of two cores,
both without a GPU: the import 2.4 to 4.0 s, and 5.1 and 7.0 s from a cold disk; a first step 0.6 to 1.2 s.
"""

import contextlib
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TextIO

from gpucheck.core.model import Level, Request
from gpucheck.core.model.naming import devices
from gpucheck.core.model.progress import Activity
from gpucheck.core.reports.shared.words import clean

SILENT_SECONDS = 0.5  # shorter runs show no progress
SHORTEST = 24  # minimum characters for the activity, next to its typical time or the bar
CELLS = 10  # of the bar of a --full run
LEAST_LEFT = 5.0  # seconds; a shorter remaining time is not shown


class Wait(NamedTuple):
    """Something a run waits for, and its typical time."""

    phase: str
    words: str
    typical: tuple[float, float] | None = None  # seconds, minimum and maximum


LOOK, IMPORT, TRAIN, EXPERIMENT, MEASURE, JUDGE = "look", "import", "train", "experiment", "measure", "judge"
JUDGING = Wait(JUDGE, "Evaluating the results")
SUMMING_UP = Wait(MEASURE, "Summarizing the measurements")
_DRIVER = Wait(LOOK, "Waiting for the NVIDIA driver", (0, 1))
_CHILDREN = {
    "nvml": _DRIVER,
    "sampler": Wait(TRAIN, "Waiting for the NVIDIA driver while training", (0, 1)),
    "cuda": Wait(LOOK, "Waiting for CUDA", (0, 3)),
    "libraries": Wait(LOOK, "Opening the libraries that TensorFlow opens", (0, 3)),
    "device_nodes": Wait(LOOK, "Opening device files", (0, 1)),
    "interpreter": Wait(LOOK, "Querying the examined Python", (0, 3)),
    "kubernetes": Wait(LOOK, "Querying the Kubernetes API server"),
    "worker": Wait(TRAIN, "Training with several workers"),
    "exhaustion": Wait(EXPERIMENT, "Running out of memory on purpose"),
}
_STAGES = {
    "import": Wait(IMPORT, "Importing TensorFlow", (2, 7)),
    "devices": Wait(IMPORT, "Waiting for TensorFlow to list devices", (0, 3)),
    "keras": Wait(IMPORT, "Importing Keras", (0, 7)),
    "tpu": Wait(IMPORT, "Connecting to the TPU"),
    "plan": Wait(TRAIN, "Preparing to train"),
    "train": Wait(TRAIN, "Training"),
    "xla": Wait(TRAIN, "Compiling a small step with XLA"),
    "experiment": Wait(EXPERIMENT, "Trying"),
    "checksums": Wait(TRAIN, ""),
    "measure": Wait(MEASURE, "Measuring"),
    "data": Wait(MEASURE, "Loading the data"),
}
_FIRST_STEP = (1.0, 16.0)
# Elapsed share of a --full run when a child or a stage begins and ends, measured on two cores without a GPU.
_SHARES = {
    "train": (0.05, 0.25),
    "experiment": (0.25, 0.8),
    "checksums": (0.8, 0.82),
    "worker": (0.82, 0.93),
    "exhaustion": (0.93, 1.0),
}
SOAKED = 0.82  # from here on a soak is over


def _phases(request: Request) -> tuple[str, ...]:
    """Return the phases of a run of that level, in order."""
    deep, trains = request.level >= Level.DEFAULT, request.smoke and request.level >= Level.DEFAULT
    full = trains and request.level >= Level.FULL
    return (LOOK, *[IMPORT] * deep, *[TRAIN] * trains, *[EXPERIMENT] * full, JUDGE)


def wait(doing: Activity) -> Wait:
    """Return what a child waits for, with the job that is trained or measured."""
    kind = _CHILDREN.get(doing.child) or _STAGES.get(doing.stage, Wait(IMPORT, "Waiting for TensorFlow"))
    words, typical = kind.words, kind.typical
    if doing.planned:
        words += f" {min(doing.ended + 1, doing.planned)} of {doing.planned}"
    if doing.stage == "train" and doing.job:
        words += f": {_job(doing.job)}"
        typical = _FIRST_STEP if doing.step == "first step" else None
    elif doing.stage in ("measure", "experiment"):
        words += f" {doing.job.replace('_', ' ')}"
    elif doing.stage == "checksums":
        words = doing.step.capitalize()
    if doing.job and doing.step:
        words += f", {doing.step}"
    if doing.child == "backend":
        words = words.replace("TensorFlow", "JAX or PyTorch")
    return Wait(MEASURE if doing.child == "bench" else kind.phase, words, typical)


def share(doing: Activity) -> float:
    """Return the elapsed share of a --full run, from 0 to 1; 0 if unknown."""
    begin, end = _SHARES.get(doing.child) or _SHARES.get(doing.stage, (0.0, 0.0))
    return begin + (end - begin) * (doing.ended / doing.planned if doing.planned else 0)


def _job(job: str) -> str:
    """Return a job's name with shortened devices, and the precision unless it is float32: "mirrored CPU:0-7"."""
    strategy, _, rest = job.partition(" ")
    names, _, precision = rest.partition(" ")
    return f"{strategy} {devices(names.split(','))} {precision.removeprefix('float32').strip()}".rstrip()


class ProgressLine:
    """A line that overwrites itself if the stream is a terminal; otherwise nothing is written."""

    def __init__(
        self,
        request: Request,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        width: Callable[[], int] = lambda: 80,
    ) -> None:
        """Start the clock.

        Args:
            request: request of the run.
            stream: where to write.
            clock: a monotonic clock, in seconds.
            width: returns the columns of the terminal.
        """
        self._stream = stream
        self._clock = clock
        self._started = self._last = clock()  # when a child was last active
        self._phases = _phases(request)
        self._since: dict[Activity, float] = {}  # when each was first seen
        self._most = 0  # largest number of pending items
        self._reached = LOOK  # the current phase
        self._full, self._soak = EXPERIMENT in self._phases, 60.0 * request.soak_minutes  # seconds
        self._passed = self._whole = 0.0  # completed share of a --full run, and the estimated seconds of the whole run
        self._shown = ""
        self._open = self._stream.isatty()
        self._width = width
        self._ascii = not (getattr(self._stream, "encoding", None) or "").lower().startswith("utf")

    def update(self, pending: list[str], doing: list[Activity]) -> None:
        """Show what the run waits for.

        Args:
            pending: names of the probes that still run, or of what is not yet measured.
            doing: what each child does; of several, the line shows a late one, or else the one in the last phase.
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
        waits = [(wait(activity), now - since) for activity, since in self._since.items()]
        late = max((wait for wait in waits if _is_late(*wait)), key=lambda wait: wait[1], default=None)
        kind, seconds = late or max(waits, key=lambda wait: self._place(wait[0]), default=(JUDGING, now - self._last))
        if not doing and pending:  # between two stages of a child, or before the first
            kind = Wait(self._reached, f"Waiting for {', '.join(pending)}")
        elif not doing and self._reached == MEASURE:
            kind = SUMMING_UP
        elif late is None:
            self._reached = kind.phase
        if self._full and kind.phase != MEASURE:
            self._show(self._bar(doing, now - self._started), kind.words, f" · {seconds:.0f} s", self._left(now - self._started))
            return
        typical = "" if kind.typical is None else f" ({_range(*kind.typical)})"
        self._show(self._count(kind, pending), kind.words, f" · {seconds:.0f} s", typical)

    def _bar(self, doing: list[Activity], elapsed: float) -> str:
        """Return the elapsed share of a --full run, as a bar that never moves backwards."""
        passed = max(map(share, doing), default=0.0)
        if passed > self._passed:
            worked = elapsed - self._soak * (passed >= SOAKED)
            self._passed, self._whole = passed, worked / passed + self._soak
        full = int(self._passed * CELLS)
        done, rest = "#." if self._ascii else "█░"
        return done * full + rest * (CELLS - full) + " "

    def _left(self, elapsed: float) -> str:
        left = self._whole - elapsed
        return f" · about {10 * round(left / 10) if left >= 15 else 10} s left" if left >= LEAST_LEFT else ""

    def _place(self, kind: Wait) -> int:
        return self._phases.index(kind.phase) if kind.phase in self._phases else 0

    def _count(self, kind: Wait, pending: list[str]) -> str:
        """Return the position, "[2/5] ", among the measurements, or else among the run's phases."""
        if kind.phase == MEASURE:
            return f"[{self._most - len(pending) + 1}/{self._most}] " if pending else ""
        return f"[{self._place(kind) + 1}/{len(self._phases)}] "

    def close(self) -> None:
        """Remove the line; later updates show nothing."""
        if self._open and self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
        self._open = False

    def _show(self, count: str, words: str, time: str, typical: str) -> None:
        """Write the line so that it fits: shorten the words as long as they stay readable, then omit the typical time."""
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
    with contextlib.closing(ProgressLine(host.request, stream, width=width)) as progress:
        yield lambda pending: progress.update(pending, host.activities())


def _is_late(kind: Wait, seconds: float) -> bool:
    return kind.typical is not None and seconds > 2 * kind.typical[1]


def _range(least: float, most: float) -> str:
    return f"usually {least:.0f} to {most:.0f}" if least else f"usually below {most:.0f}"


def in_notebook() -> bool:
    """Whether this code runs in a notebook."""
    return "IPython" in sys.modules and hasattr(sys.modules["IPython"].get_ipython(), "kernel")


class NotebookLine:
    """A stream that shows its last line as an output of the cell; an exported notebook keeps only the last state of it."""

    encoding = "utf-8"
    _output: Any = None

    def write(self, text: str) -> int:
        """Show the text after the last carriage return."""
        display: Any = importlib.import_module("IPython.display").display
        shown = {"text/plain": text.rpartition("\r")[2].strip()}
        if self._output is None:
            self._output = display(shown, raw=True, display_id=True)
        else:
            self._output.update(shown, raw=True)
        return len(text)

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def isatty(self) -> bool:
        """Return True: the line can be overwritten."""
        return True
