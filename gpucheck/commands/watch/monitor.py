"""The monitoring thread: it checks every few seconds, and reports each problem once until it is over."""

import contextlib
import functools
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from types import FrameType

from gpucheck.commands.watch import judge, unused
from gpucheck.commands.watch.judge import Event, Pace
from gpucheck.core.child.messages.drivers import Sampled, SamplerStarted
from gpucheck.core.compat import nvml
from gpucheck.core.host.local import LocalHost
from gpucheck.core.host.sampler import samples, start
from gpucheck.core.model import Request
from gpucheck.core.model.fit import GpuUse
from gpucheck.core.probes import limits

SAMPLE_SECONDS = 2.0
SAMPLES_JUDGED = 5
LAST_SAMPLE_SECONDS = 1.0  # wait at the end of the training for the last samples; it takes milliseconds
RUNNING_SECONDS = 1.0  # interval of checking whether the fit still runs; a check takes microseconds
CHILD_SECONDS = 600.0  # then a new child takes over, because a child's messages stay in memory until it ends
STEPS_KEPT = 50
# Parts of file names that do not belong to the user.
NOT_THE_USERS = ("site-packages", "dist-packages", os.path.dirname(os.__file__), "<", "__autograph_generated_file")
FRAMEWORKS = ("tensorflow", "keras", "jax", "torch")  # may be in any folder (pip install --target)
# Parts of the names of framework files that call the user's data code.
DATA_CALLERS = ("script_ops", "data_adapter", "dataset_ops")


class Monitor:
    """A monitor that judges the steps reported by ``step``, the GPUs and memory, and calls ``say`` with each event."""

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
            say: called with each event, in the monitor's thread.
            every_seconds: interval between two checks.
            stall_seconds: minimum time without a finished step that is reported.
            running: returns whether the training still runs.
            interrupted: called in the monitor's thread, after its last sample, if the training no longer runs.
        """
        self._say, self._every, self._stall = say, every_seconds, stall_seconds
        self._running, self._interrupted = running, interrupted
        self._seconds: deque[float] = deque(maxlen=STEPS_KEPT)
        self._last: float | None = None
        self._over, self._sampling, self._summed = threading.Event(), threading.Event(), threading.Event()
        self._reported: set[str] = set()
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
        child, taken = None, 0
        with contextlib.suppress(RuntimeError):  # no NVIDIA driver
            child = start(host, SAMPLE_SECONDS)
        with contextlib.suppress(OSError):
            self.processors = limits.usable_processors(host)
        if child is not None and (started := child.message(SamplerStarted)) is not None:
            self.gpus.found(started, self._visible)
            self._machine_gpus = len(started.uuids)
            self._sampling.set()
        while host.remaining() > self._every:
            over = self._wait()
            sampled = [] if child is None else samples(child)
            for moment in sampled[taken:]:
                self.gpus.add(moment)
            taken = len(sampled)
            if over:
                self._summed.set()
                return
            self._why_unused(host)
            self.report([*self._gpu_events(sampled[-SAMPLES_JUDGED:]), *judge.memory(*limits.main_memory(host))])

    def _gpu_events(self, sampled: list[Sampled]) -> Iterator[Event]:
        driver_unresponsive = bool(sampled) and time.monotonic() - sampled[-1].seconds > self._stall / 2
        yield from judge.slowed([moment.gpus for moment in sampled])
        last = sampled[-1].gpus if sampled and not driver_unresponsive else ()
        if (place := _place()) is not None:
            self.places[place] += 1
        yield from judge.stalled(self.pace(), self._stall, last, place, driver_unresponsive)
        if sampled:
            yield from judge.idle(self.gpus.idle(sampled[-1].seconds, self._stall), self._stall)

    def _why_unused(self, host: LocalHost) -> None:
        """Report once, after the first step, why the training does not use a GPU of this machine."""
        devices, self.devices = self.devices, None
        if devices is not None and (event := unused.why(host, devices, self._machine_gpus)) is not None:
            self.not_used = event
            self._say(event)

    def report(self, events: list[Event]) -> None:
        """Report each event once, and again only if it ends and returns."""
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
    """Return the folder of packages that contains a package's ``__init__.py``, or else the package's own folder."""
    package = os.path.dirname(file)
    folder = os.path.dirname(package)
    names: list[str] = []
    with contextlib.suppress(OSError):  # the folder may not be readable
        names = os.listdir(folder)
    return (folder if any(name.endswith(".dist-info") for name in names) else package) + os.sep


def _line(file: str, number: int) -> str:
    """Return a line of a file or notebook cell, as tracebacks show it: 'data.py:12', 'Cell In[3], line 12'."""
    with contextlib.suppress(Exception):  # not in a notebook
        kind, name = sys.modules["IPython"].get_ipython().compile.format_code_name(file)
        return f"{kind} {name}, line {number}"
    return f"{os.path.basename(file)}:{number}"


class Gpus:
    """The GPUs that this process may use, by their NVML indexes."""

    def __init__(self) -> None:
        self.known: tuple[int, ...] = ()
        self._totals: dict[int, int | None] = {}
        self._busy: dict[int, list[float]] = {}  # sum and count
        self._slow: dict[int, list[float]] = {}
        self._idle_since: dict[int, float] = {}

    def found(self, started: SamplerStarted, visible: str | None) -> None:
        """Record the GPUs of the machine, and which of them CUDA_VISIBLE_DEVICES lists."""
        self.known = shown(visible, started.uuids)
        self._totals = dict(enumerate(started.memory_total_bytes))

    def add(self, moment: Sampled) -> None:
        """Add a sample of every GPU."""
        for index in self.known:
            if index >= len(moment.gpus):
                continue
            sample = moment.gpus[index]
            if (busy := sample.utilization_percent) is not None:
                _count(self._busy.setdefault(index, [0.0, 0.0]), busy)
                if busy:
                    self._idle_since.pop(index, None)
                else:
                    self._idle_since.setdefault(index, moment.seconds)
            if sample.clock_event_reasons is not None:
                _count(self._slow.setdefault(index, [0.0, 0.0]), bool(nvml.harmful_reasons(sample.clock_event_reasons)))

    def idle(self, now: float, least_seconds: float) -> list[int]:
        """Return the GPUs that have been at 0 % for at least ``least_seconds``, if another one is busy."""
        idle = [index for index in self.known if now - self._idle_since.get(index, now) >= least_seconds]
        return idle if any(index in self._busy and index not in self._idle_since for index in self.known) else []

    def uses(self, peaks: Sequence[int | None]) -> tuple[GpuUse, ...]:
        """Return the use of each GPU; ``peaks``: TensorFlow's peak memory in bytes, in the order of ``known``."""
        return tuple(
            GpuUse(
                index=index,
                utilization_percent=_mean(self._busy.get(index)),
                throttled_share=_mean(self._slow.get(index)),
                peak_bytes=peaks[place] if place < len(peaks) else None,
                total_bytes=self._totals.get(index),
            )
            for place, index in enumerate(self.known)
        )


def shown(visible: str | None, uuids: Sequence[str | None]) -> tuple[int, ...]:
    """Return the NVML indexes of the GPUs that CUDA_VISIBLE_DEVICES lists, up to the first invalid one; all if it is unset."""
    if visible is None:
        return tuple(range(len(uuids)))
    numbers: list[int] = []
    for entry in map(str.strip, visible.split(",")):
        named = (index for index, uuid in enumerate(uuids) if entry and uuid and uuid.startswith(entry))
        index = int(entry) if entry.isdigit() else next(named, -1)
        if not 0 <= index < len(uuids):
            break
        numbers.append(index)
    return tuple(numbers)


def _count(sums: list[float], value: float) -> None:
    sums[0] += value
    sums[1] += 1


def _mean(sums: list[float] | None) -> float | None:
    return sums[0] / sums[1] if sums else None
