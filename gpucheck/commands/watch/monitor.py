"""The monitoring thread: it checks every few seconds, and reports each problem once until it is over."""

import contextlib
import functools
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from statistics import median
from types import FrameType

from gpucheck.commands.watch import judge, unused
from gpucheck.commands.watch.gpus import Gpus
from gpucheck.commands.watch.judge import Event, Pace
from gpucheck.core.child.messages.drivers import Sampled, SamplerStarted
from gpucheck.core.host import Child
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import limits
from gpucheck.core.processes.sampler import samples, start

SAMPLE_SECONDS = 2.0
SAMPLES_JUDGED = 5
LAST_SAMPLE_SECONDS = 1.0  # wait at the end of the training for the last samples; it takes milliseconds
RUNNING_SECONDS = 1.0  # interval of looking whether the fit still runs; it takes microseconds
CHILD_SECONDS = 600.0  # then another child takes over, because a child's messages stay in memory until it ends
STEPS_KEPT = 50
# Parts of file names that do not belong to the user.
NOT_THE_USERS = ("site-packages", "dist-packages", os.path.dirname(os.__file__), "<", "__autograph_generated_file")
FRAMEWORKS = ("tensorflow", "keras", "jax", "torch")  # which may be in any folder (pip install --target)
# Parts of the names of framework files that call the user's data code.
DATA_CALLERS = ("script_ops", "data_adapter", "dataset_ops")


class Monitor:
    """Judges the steps reported by ``step``, GPUs and memory; calls ``say`` with each event."""

    def __init__(
        self,
        say: Callable[[Event], None],
        every_seconds: float,
        stall_seconds: float,
        running: Callable[[], bool] = lambda: True,  # called every second
        interrupted: Callable[[], None] = lambda: None,
    ) -> None:
        """Set the options; ``start`` starts the thread.

        Args:
            say: called with each event, in the thread of the monitor.
            every_seconds: interval between two checks.
            stall_seconds: minimum time without a finished step that is reported.
            running: returns whether the training still runs.
            interrupted: called, in the thread of the monitor, after its last sample, if the training no longer runs.
        """
        self._say, self._every, self._stall = say, every_seconds, stall_seconds
        self._running, self._interrupted = running, interrupted
        self._seconds: deque[float] = deque(maxlen=STEPS_KEPT)
        self._last: float | None = None
        self._over, self._sampling, self._summed = threading.Event(), threading.Event(), threading.Event()
        self._reported: set[str] = set()
        self._taken = 0  # number of this child's samples that are already added
        self._visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        self._machine_gpus = 0
        self.processors: float | None = None  # number that this process may use
        self.gpus = Gpus()
        self.places: Counter[str] = Counter()  # lines of the user's code in the input pipeline, with their counts
        self.devices: unused.Devices | None = None  # set once a step has ended
        self.not_used: Event | None = None  # the reason why no GPU is used

    def start(self) -> None:
        """Start the thread. Does nothing if the system forbids threads."""
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=self._watch, name="gpucheck watch", daemon=True).start()

    def stop(self) -> None:
        """Stop the thread and its child, after the last samples."""
        self._over.set()
        if self._sampling.is_set():
            self._summed.wait(LAST_SAMPLE_SECONDS)

    def pause(self) -> None:
        """Pause between epochs and during validation, when no step is expected."""
        self._last = None

    def step(self) -> None:
        """Record the end of a step. It must be fast, because it runs in every step."""
        now = time.monotonic()
        if self._last is not None:
            self._seconds.append(now - self._last)
        self._last = now

    def pace(self) -> Pace:
        """Return the pace of the steps."""
        usual = median(self._seconds) if len(self._seconds) > 1 else None
        return Pace(usual, 0.0 if self._last is None else time.monotonic() - self._last)

    def _watch(self) -> None:
        while not self._over.is_set() and self._running():
            with LocalHost(Request(timeout_seconds=CHILD_SECONDS)) as host:
                self._watch_with(host)
        if not self._over.is_set():
            self._interrupted()

    def _wait(self) -> bool:
        """Wait until the next check; return whether the training is over."""
        until = time.monotonic() + self._every
        while (left := until - time.monotonic()) > 0:
            if self._over.wait(min(left, RUNNING_SECONDS)) or not self._running():
                return True
        return self._over.is_set()

    def _watch_with(self, host: LocalHost) -> None:
        """Check every few seconds, until the end or the host's time limit."""
        child, self._taken = _sampler(host), 0
        with contextlib.suppress(OSError):
            self.processors = limits.usable_processors(host)
        if child is not None and (started := child.message(SamplerStarted)) is not None:
            self.gpus.found(started, self._visible)
            self._machine_gpus = len(started.uuids)
            self._sampling.set()
        while host.remaining() > self._every:
            over = self._wait()
            sampled = [] if child is None else samples(child)
            for moment in sampled[self._taken :]:
                self.gpus.add(moment)
            self._taken = len(sampled)
            if over:
                self._summed.set()
                return
            self._why_unused(host)
            self.tell([*self._gpu_events(sampled[-SAMPLES_JUDGED:]), *judge.memory(*limits.main_memory(host))])

    def _gpu_events(self, sampled: list[Sampled]) -> Iterator[Event]:
        silent = bool(sampled) and time.monotonic() - sampled[-1].seconds > self._stall / 2
        yield from judge.slowed([moment.gpus for moment in sampled])
        last = sampled[-1].gpus if sampled and not silent else ()
        if (place := _place()) is not None:
            self.places[place] += 1
        yield from judge.stalled(self.pace(), self._stall, last, place, silent)
        if sampled:
            yield from judge.idle(self.gpus.idle(sampled[-1].seconds, self._stall), self._stall)

    def _why_unused(self, host: LocalHost) -> None:
        """Report once, after the first step, why the training does not use a GPU of this machine."""
        devices, self.devices = self.devices, None
        if devices is not None and (event := unused.why(host, devices, self._machine_gpus)) is not None:
            self.not_used = event
            self._say(event)

    def tell(self, events: list[Event]) -> None:
        """Report each event once, and again only if it returns after it was over."""
        codes = {event.code for event in events}
        for event in events:
            if event.code not in self._reported:
                self._say(event)
        self._reported = codes


def _place() -> str | None:
    """Return the current line of the user's Python code in a dataset (a generator, a map); None if none runs."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in FRAMEWORKS]
    others = (*NOT_THE_USERS, *(_installed_in(file) for file in files if file))
    for frame in sys._current_frames().values():
        inner: FrameType | None = frame
        place = ""
        while inner is not None:
            name = inner.f_code.co_filename
            if place and any(part in name for part in DATA_CALLERS):
                return place
            if not place and not any(part in name for part in others):
                place = f"{_line(name, inner.f_lineno)} in {inner.f_code.co_name}"
            inner = inner.f_back
    return None


@functools.cache
def _installed_in(file: str) -> str:
    """Return the folder of packages that has a package's ``__init__.py``, else the package's own folder."""
    package = os.path.dirname(file)
    folder = os.path.dirname(package)
    names: list[str] = []
    with contextlib.suppress(OSError):  # the folder may not be readable
        names = os.listdir(folder)
    return (folder if any(name.endswith(".dist-info") for name in names) else package) + os.sep


def _line(file: str, number: int) -> str:
    """Return a line of a file, or of a notebook's cell, as its tracebacks name it: 'data.py:12', 'Cell In[3], line 12'."""
    with contextlib.suppress(Exception):  # not in a notebook
        kind, name = sys.modules["IPython"].get_ipython().compile.format_code_name(file)
        return f"{kind} {name}, line {number}"
    return f"{os.path.basename(file)}:{number}"


def _sampler(host: LocalHost) -> Child | None:
    """Start the child that queries NVML; None without an NVIDIA driver."""
    with contextlib.suppress(RuntimeError):
        return start(host, SAMPLE_SECONDS)
    return None
