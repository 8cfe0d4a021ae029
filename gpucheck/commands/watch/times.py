"""Take the times of a fit: epochs, steps, the first step, and the part of the steps that waited for data."""

import time
from collections.abc import Callable
from statistics import median

from gpucheck.commands.watch.waiting import GapWait


class Times:
    """The times of one fit, from what Keras reports. The steps after the first are steady: they compile nothing."""

    def __init__(self, wait: GapWait, clock: Callable[[], float] = time.perf_counter) -> None:
        """Start.

        Args:
            wait: measures the wait for data.
            clock: seconds.
        """
        self.wait, self._clock = wait, clock
        self.began = clock()
        self.epochs: list[float] = []  # seconds of each that ended, with its validation
        self.steps, self.steady_steps, self.steady_seconds, self.waited = 0, 0, 0.0, 0.0
        self.samples: float | None = 0.0
        self.first_step_seconds: float | None = None
        self.measured = True  # whether the wait was, all the time
        self._first_began: float | None = None
        self._epoch_began = self.began
        self._part: tuple[float, int, float | None] | None = None  # of the steady steps: when, how many before, waited before
        self.epoch_steps, self.ended_steps = 0, 0  # that began, and that ended
        self._ended = self.began

    def epoch_begins(self) -> None:
        """An epoch begins, with the fetch of its first batch."""
        self._epoch_began, self.epoch_steps, self.ended_steps, self._part = self._clock(), 0, 0, None
        if self._first_began is not None and self.wait.between_steps:
            self._part = self._epoch_began, 0, self.wait.seconds()
            self.wait.resume()

    def step_begins(self, first: int, count: int) -> None:
        """Some steps begin, in the thread that trains.

        Args:
            first: the number of the first in its epoch, from 0.
            count: steps in this call.
        """
        self.wait.begin()
        if self._first_began is None:
            self._first_began = self._clock()
            self.wait.trace()
        elif self._part is None:  # the second: the first has been traced and compiled
            self.wait.traced()
            self._part = self._clock(), self.epoch_steps, self.wait.seconds()
        self.epoch_steps = first + count

    def step_ends(self, last: int) -> None:
        """Steps up to this number of the epoch, from 0, have ended. Keras may call it in any thread, and in any order."""
        self.wait.end()
        if self.first_step_seconds is None and self._first_began is not None:
            self.first_step_seconds = self._clock() - self._first_began
        self.ended_steps, self._ended = max(self.ended_steps, last + 1), self._clock()

    def steps_end(self, planned: int | None, samples: float | None) -> None:
        """All steps of the epoch have ended; a second call changes nothing.

        Args:
            planned: steps of an epoch: the last call may have run fewer than it announced.
            samples: of the epoch; None: unknown.
        """
        self.wait.traced()
        self.wait.pause()
        steps = self.epoch_steps if planned is None else min(self.epoch_steps, planned)
        self.steps += steps
        if self._part is not None and steps:
            began, before, waited = self._part
            now = self.wait.seconds()
            # Keras may report the last one later.
            ended = self._ended if self.ended_steps >= self.epoch_steps else self._clock()
            self.steady_seconds += max(ended - began, 0.0)
            self.steady_steps += steps - before
            # Each fetch takes some time: a counter that stays belongs to the steps of another model.
            self.measured = self.measured and now is not None and waited is not None and now > waited
            self.waited += (now or 0.0) - (waited or 0.0)
            self.samples = None if self.samples is None or not samples else self.samples + samples * (steps - before) / steps
        self._part, self.epoch_steps, self.ended_steps = None, 0, 0

    def epoch_ends(self) -> None:
        """An epoch ended, with its validation."""
        self.epochs.append(self._clock() - self._epoch_began)

    def elapsed(self) -> float:
        """Return the seconds since the fit began."""
        return self._clock() - self.began

    @property
    def step_seconds(self) -> float | None:
        """The mean of the steady steps; None: there were none."""
        return self.steady_seconds / self.steady_steps if self.steady_steps else None

    @property
    def samples_per_second(self) -> float | None:
        """The rate of the steady steps, validation left out."""
        return self.samples / self.steady_seconds if self.samples and self.steady_seconds else None

    @property
    def input_wait_share(self) -> float | None:
        """The share of the steady steps' time that waited for data, 0 to 1; None: not measured."""
        if not (self.measured and self.steady_steps and self.steady_seconds):
            return None
        return min(max(self.waited / self.steady_seconds, 0.0), 1.0)

    @property
    def median_epoch_seconds(self) -> float | None:
        """The median epoch, with its validation."""
        return median(self.epochs) if self.epochs else None
