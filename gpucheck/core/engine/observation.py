"""The run of the probes, each in its own thread if the system permits; a failed probe does not affect the others."""

import collections
import contextlib
import threading
import time
from collections.abc import Callable, Iterable

import msgspec

from gpucheck.core.host import Host
from gpucheck.core.model import Level, ProbeStatus, Reading, Request
from gpucheck.core.model.plugin import Probe

TICK_SECONDS = 0.1
GRACE_SECONDS = 0.5  # children end with the host's time limit; then probes still collect their messages

NOT_RUN = {Level.NODE: "in a check of the node", Level.QUICK: "with --quick"}

Tick = Callable[[list[str]], None]


class Observation:
    """Running probes: started on construction, so that the caller can load the rules meanwhile."""

    def __init__(self, host: Host, probes: Iterable[Probe]) -> None:
        """Start a thread for each requested probe; if a limit allows fewer threads, each runs several probes in turn.

        Args:
            host: the machine; ``host.request`` selects the probes, ``host.remaining()`` is their time limit.
            probes: candidates.
        """
        self._host = host
        self._probes = list(probes)
        self._started = time.monotonic()
        self._readings: dict[str, Reading] = {}
        self._began: dict[str, float] = {}
        self._changed = threading.Condition()
        self._queue = queue = collections.deque[Probe]()
        for probe in self._probes:
            reason = why_excluded(probe, host.request)
            if reason is None:
                queue.append(probe)
            else:
                self._readings[probe.name] = Reading(probe=probe.name, status=ProbeStatus.SKIPPED, problem=reason)
        threads = [threading.Thread(target=self._work, name=f"probe {probe.name}", daemon=True) for probe in queue]
        with contextlib.suppress(RuntimeError):  # can't start new thread
            for thread in threads:
                thread.start()
        self._alone = not any(thread.ident for thread in threads)

    def wait(self, tick: Tick | None = None) -> list[Reading]:
        """Wait for all readings, at most until shortly after the host's time limit.

        Args:
            tick: called about ten times a second with the names of the probes that still run.

        Returns:
            One reading per probe, in their order; the reading of a probe that raised or timed out gives the reason.
        """
        if self._alone:
            self._work()
        end = time.monotonic() + self._host.remaining() + GRACE_SECONDS
        if tick:
            tick([probe.name for probe in self._probes])  # also where all of them are done before the first wait
        while True:
            with self._changed:
                left = {probe.name: self._seconds_left(probe, end) for probe in self._probes if probe.name not in self._readings}
                pending = [name for name, seconds in left.items() if seconds > 0]
                if not pending:
                    break
                pause = min(left[name] for name in pending)
                self._changed.wait(min(pause, TICK_SECONDS))  # on Windows, Ctrl-C does not end a wait
            if tick:
                tick(pending)
        return self.readings()

    def readings(self) -> list[Reading]:
        """Return the current readings; a probe that still runs is reported as timed out."""
        with self._changed:
            now = time.monotonic()
            late = {probe.name: now - self._began.get(probe.name, self._started) for probe in self._probes}
            return [self._readings.get(probe.name) or _late(probe, late[probe.name]) for probe in self._probes]

    def _seconds_left(self, probe: Probe, end: float) -> float:
        """Return how many seconds to wait for a probe."""
        began = self._began.get(probe.name)
        own = end if probe.limit_seconds is None or began is None else began + probe.limit_seconds
        return min(own, end) - time.monotonic()

    def _work(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._read(self._queue.popleft())

    def _read(self, probe: Probe) -> None:
        self._began[probe.name] = started = time.monotonic()
        try:
            reading = Reading(probe=probe.name, status=ProbeStatus.OK, fact=probe.read(self._host))
        except Exception as error:  # does not affect the other probes
            problem = f"{type(error).__name__}: {error}"
            reading = Reading(probe=probe.name, status=ProbeStatus.FAILED, problem=problem)
        seconds = time.monotonic() - started
        with self._changed:
            self._readings[probe.name] = msgspec.structs.replace(reading, seconds=round(seconds, 4))
            self._changed.notify_all()


def why_excluded(probe: Probe, request: Request) -> str | None:
    """Return why the request excludes a probe; None if it includes it."""
    if probe.level > request.level:
        return f"not checked {NOT_RUN[request.level]}" if request.level in NOT_RUN else "only with --full"
    if probe.smoke and not request.smoke:
        return "not checked with --no-smoke"
    if probe.tensorflow and request.other_backend:
        return f"not checked with --backend {request.other_backend}"
    return None


def _late(probe: Probe, seconds: float) -> Reading:
    problem = f"did not respond within {seconds:.0f} s"
    return Reading(probe=probe.name, status=ProbeStatus.TIMED_OUT, problem=problem, seconds=round(seconds, 3))
