"""Measure the times of a fit: epochs, steps, the first step, and the wait for data."""

import time
from collections.abc import Callable
from statistics import median

from gpucheck.commands.watch.waiting import GapWait


class Times:
    """The times of one fit, from Keras' events. The steps after the first are steady: they compile nothing."""

    def __init__(self, wait: GapWait, clock: Callable[[], float] = time.perf_counter) -> None:
        """Start the clock.

        Args:
            wait: the measurement of the wait for data.
            clock: a clock, in seconds.
        """
        self.wait, self._clock = wait, clock
        self.started = clock()
        self.epochs: list[float] = []  # seconds of each finished epoch, including validation
        self.steps, self.steady_steps, self.steady_seconds, self.waited = 0, 0, 0.0, 0.0
        self.samples: float | None = 0.0
        self.first_step_seconds: float | None = None
        self.measured = True  # whether the wait was measured all the time
        self._first_began: float | None = None
        self._epoch_started = self.started
        self._part: tuple[float, int, float | None] | None = None  # start of the steady steps: time, steps before, wait before
        self.epoch_steps, self.ended_steps = 0, 0  # steps that started, and that ended
        self._counted = 0  # steps of this epoch that are in ``steps``
        self._last: tuple[int, int, float | None] | None = None  # total steps, steps before the steady ones, samples
        self._ended = self.started
        self._mark: tuple[float, int, float | None, float | None] | None = None  # see ``mark``
        self._interrupted: float | None = None  # time of the last event of a fit that an exception ended
        self.in_epoch = False

    def epoch_begins(self) -> None:
        """Record the beginning of an epoch, which fetches its first batch."""
        self._epoch_started, self.epoch_steps, self.ended_steps, self._part = self._clock(), 0, 0, None
        self._counted, self._last, self._mark, self.in_epoch = 0, None, None, True
        if self._first_began is not None and self.wait.between_steps:
            self._part = self._epoch_started, 0, self.wait.seconds()
            self.wait.end()

    def step_begins(self, first: int, count: int) -> None:
        """Record that steps begin, in the training thread.

        Args:
            first: the number of the first step in its epoch, from 0.
            count: number of steps in this call.
        """
        self.wait.begin()
        if self._first_began is None:
            self._first_began = self._clock()
            self.wait.trace()
        elif self._part is None:  # the second step: the first has been traced and compiled
            self.wait.traced()
            self._part = self._clock(), max(self.epoch_steps, self._counted), self.wait.seconds()
        self.epoch_steps = first + count

    def step_ends(self, last: int) -> None:
        """Record that steps up to this number, from 0, have ended. Keras calls it in any thread and order."""
        self.wait.end()
        if self.first_step_seconds is None and self._first_began is not None:
            self.first_step_seconds = self._clock() - self._first_began
        self.ended_steps, self._ended = max(self.ended_steps, last + 1), self._clock()

    def steps_end(self, planned: int | None, samples: float | None) -> None:
        """Record that all steps of the epoch have ended; a second call has no effect.

        Args:
            planned: steps per epoch; the last call may have run fewer steps than announced.
            samples: samples of the epoch; None: unknown.
        """
        self.wait.traced()
        self.wait.pause()
        total = self.epoch_steps if planned is None else min(self.epoch_steps, planned)
        self.steps += max(total - self._counted, 0)  # the others were counted at an earlier validation of this epoch
        self._counted = max(self._counted, total)
        # Keras may report the last step later.
        ended = self._ended if self.ended_steps >= self.epoch_steps else self._clock()
        self._part_ends(ended, total, self.wait.seconds(), samples)

    def _part_ends(self, ended: float, total: int, now: float | None, samples: float | None) -> None:
        """Add the steady steps until a time, at which the epoch had ``total`` steps and the wait was ``now``."""
        if self._part is not None and total:
            started, before, waited = self._part
            self.steady_seconds += max(ended - started, 0.0)
            # Each fetch takes some time, so an unchanged counter belongs to the steps of another model.
            self.measured = self.measured and now is not None and waited is not None and now > waited
            self.waited += (now or 0.0) - (waited or 0.0)
            self._last = total, before, samples
            self._add_steady(1, total)
        self._part, self.epoch_steps = None, 0

    def epoch_ends(self) -> None:
        """Record the end of an epoch and its validation, when all its steps have been reported."""
        if 0 < self.ended_steps < self._counted:  # a step that began at the end of the data, before the validation
            self.steps -= self._counted - self.ended_steps
            if self._last is not None:
                self._add_steady(-1, self._last[0])
                self._add_steady(1, max(self.ended_steps, self._last[1]))
        self.epochs.append(self._clock() - self._epoch_started)
        self._ended, self.in_epoch = self._clock(), False

    def mark(self, samples: float | None) -> None:
        """Remember the figures so far, in any thread: if the fit is interrupted, later ones may be wrong."""
        if self._part is not None:
            self._mark = self._ended, self.ended_steps, self.wait.seconds(), samples

    def interrupt(self) -> None:
        """Record that an exception ended the fit: steady steps are counted until the last mark, others until the last end."""
        self.wait.traced()
        self.wait.pause()
        self._interrupted = max(self._ended, self._epoch_started)
        self.steps += max(self.ended_steps - self._counted, 0)
        self._counted = max(self._counted, self.ended_steps)
        if self._part is not None and self._mark is not None and self._mark[1] > self._part[1]:
            ended, total, now, samples = self._mark
            if samples is not None or not self.samples:
                self._part_ends(ended, total, now, samples)

    def _add_steady(self, sign: int, total: int) -> None:
        """Add (1) or subtract (-1) the last steady steps and their samples, if the epoch has this total of steps."""
        assert self._last is not None  # noqa: S101 - the callers have set it
        _, before, samples = self._last
        self.steady_steps += sign * (total - before)
        self.samples = None if self.samples is None or not samples else self.samples + sign * samples * (total - before) / total

    def elapsed(self) -> float:
        """Return the seconds from the start of the fit until now, or until it was interrupted."""
        return (self._clock() if self._interrupted is None else self._interrupted) - self.started

    @property
    def step_seconds(self) -> float | None:
        """The mean time of the steady steps; None if there were none."""
        return self.steady_seconds / self.steady_steps if self.steady_steps else None

    @property
    def samples_per_second(self) -> float | None:
        """The rate of the steady steps, without validation."""
        return self.samples / self.steady_seconds if self.samples and self.steady_seconds else None

    @property
    def input_wait_share(self) -> float | None:
        """The share of the steady steps' time spent waiting for data, 0 to 1; None: not measured."""
        if not (self.measured and self.steady_steps and self.steady_seconds):
            return None
        return min(max(self.waited / self.steady_seconds, 0.0), 1.0)

    @property
    def median_epoch_seconds(self) -> float | None:
        """The median time of an epoch, including validation."""
        return median(self.epochs) if self.epochs else None
