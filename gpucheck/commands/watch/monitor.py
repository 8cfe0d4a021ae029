"""The monitoring thread: it checks every few seconds, and reports each problem once until it is over."""

import contextlib
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
from gpucheck.core.child.messages.nvml import Sampled, SamplerStarted
from gpucheck.core.host import Child
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import limits
from gpucheck.core.processes.sampler import samples, start

SAMPLE_SECONDS = 2.0
KEPT = 5  # samples to judge together
LAST_SAMPLE_SECONDS = 1.0  # to sum up at the end of the training; it takes milliseconds
RENEWED_SECONDS = 600.0  # then another child samples, because all messages of a child are kept until it ends
STEPS_KEPT = 50
# In file names: not the user's.
NOT_THE_USERS = ("site-packages", "dist-packages", os.path.dirname(os.__file__), "<", "__autograph_generated_file")
FEEDING = ("script_ops", "data_adapter", "dataset_ops")  # in the names of framework files that call the user's data code


class Monitor:
    """Judges the steps reported by ``step``, GPUs and memory; calls ``say`` with each event."""

    def __init__(self, say: Callable[[Event], None], every_seconds: float, stall_seconds: float) -> None:
        """Set the options; ``start`` starts the thread.

        Args:
            say: called with each event, in the thread of the monitor.
            every_seconds: between two checks.
            stall_seconds: the minimum time without a finished step that is reported.
        """
        self._say, self._every, self._stall = say, every_seconds, stall_seconds
        self._seconds: deque[float] = deque(maxlen=STEPS_KEPT)
        self._last: float | None = None
        self._over, self._sampling, self._summed = threading.Event(), threading.Event(), threading.Event()
        self._reported: set[str] = set()
        self._taken = 0  # samples of this child that are summed up
        self._visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        self._machine_gpus = 0
        self.processors: float | None = None  # that this process may use
        self.gpus = Gpus()
        self.places: Counter[str] = Counter()  # lines of the user's code that the input pipeline was seen in
        self.devices: unused.Devices | None = None  # of the model, once a step has ended
        self.not_used: Event | None = None  # why no GPU trains

    def start(self) -> None:
        """Start the thread. Does nothing if the system forbids threads."""
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=self._watch, name="gpucheck watch", daemon=True).start()

    def stop(self) -> None:
        """Stop the thread, once it has summed up the samples; the child that samples ends with it."""
        self._over.set()
        if self._sampling.is_set():
            self._summed.wait(LAST_SAMPLE_SECONDS)

    def pause(self) -> None:
        """Pause between epochs and during validation, when no step is expected."""
        self._last = None

    def step(self) -> None:
        """Record the end of a step; this is all the work per step."""
        now = time.monotonic()
        if self._last is not None:
            self._seconds.append(now - self._last)
        self._last = now

    def pace(self) -> Pace:
        """Return the pace of the steps."""
        usual = median(self._seconds) if len(self._seconds) > 1 else None
        return Pace(usual, 0.0 if self._last is None else time.monotonic() - self._last)

    def _watch(self) -> None:
        while not self._over.is_set():
            with LocalHost(Request(timeout_seconds=RENEWED_SECONDS)) as host:
                self._watch_with(host)

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
            over = self._over.wait(self._every)
            sampled = [] if child is None else samples(child)
            for moment in sampled[self._taken :]:
                self.gpus.add(moment)
            self._taken = len(sampled)
            if over:
                self._summed.set()
                return
            self._why_unused(host)
            self.tell([*self._of_gpus(sampled[-KEPT:]), *judge.memory(*limits.main_memory(host))])

    def _of_gpus(self, sampled: list[Sampled]) -> Iterator[Event]:
        silent = bool(sampled) and time.monotonic() - sampled[-1].seconds > self._stall / 2
        yield from judge.slowed([moment.gpus for moment in sampled])
        last = sampled[-1].gpus if sampled and not silent else ()
        if (place := _place()) is not None:
            self.places[place] += 1
        yield from judge.stalled(self.pace(), self._stall, last, place, silent)
        if sampled:
            yield from judge.idle(self.gpus.idle(sampled[-1].seconds, self._stall), self._stall)

    def _why_unused(self, host: LocalHost) -> None:
        """Once, after the first step: say why the training does not use a GPU of this machine."""
        devices, self.devices = self.devices, None
        if devices is not None and (event := unused.why(host, devices, self._machine_gpus)) is not None:
            self.not_used = event
            self._say(event)

    def tell(self, events: list[Event]) -> None:
        """Report each event once, and again only after it was over."""
        codes = {event.code for event in events}
        for event in events:
            if event.code not in self._reported:
                self._say(event)
        self._reported = codes


def _place() -> str | None:
    """Return the current line of the user's Python code that a dataset calls: a generator, a map in Python."""
    for frame in sys._current_frames().values():
        inner: FrameType | None = frame
        place = ""
        while inner is not None:
            name = inner.f_code.co_filename
            if place and any(part in name for part in FEEDING):
                return place
            if not place and not any(part in name for part in NOT_THE_USERS):
                place = f"{os.path.basename(name)}:{inner.f_lineno} in {inner.f_code.co_name}"
            inner = inner.f_back
    return None


def _sampler(host: LocalHost) -> Child | None:
    """Start the child that queries NVML; None without an NVIDIA driver."""
    with contextlib.suppress(RuntimeError):
        return start(host, SAMPLE_SECONDS)
    return None
