"""A callback that monitors training: ``model.fit(..., callbacks=[gpucheck.keras.Watch()])``. Requires Keras 3."""

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import keras

from gpucheck.commands.watch.fit import Fit
from gpucheck.commands.watch.judge import Event, not_finite
from gpucheck.commands.watch.summary import Summary, lines, write

__all__ = ["Event", "Summary", "Watch"]


def _harmless(method: Callable[..., None]) -> Callable[..., None]:
    """Let an error of the monitoring end the monitoring, with one line, instead of the training."""

    @functools.wraps(method)
    def call(self: "Watch", *args: Any, **kwargs: Any) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            fit, self._fit = self._fit, None
            with contextlib.suppress(Exception):
                if fit is not None:
                    fit.stop()
                self._say(f"gpucheck: Watch has stopped, the training goes on: {type(error).__name__}: {error}")

    return call


class Watch(keras.callbacks.Callback):  # type: ignore[misc,unused-ignore]
    """Say what limits the speed of a training, and report an unused GPU, throttling, a stall, low memory and NaN.

    Each problem is one line, reported once, and again if it returns. At the end, at most three lines sum up the training: its
    rate, how long its steps waited for data, how busy the GPUs were, what limits the speed, and what to change.
    A thread checks every few seconds; a child process queries NVML, so that a driver that hangs or crashes does not affect the
    training. The cost per step is a few microseconds.

    Attributes:
        events: what was reported, in order; each has ``code`` (``gpucheck explain CODE``) and ``text``.
        summary: the figures of the last fit; None before its end.
    """

    async_safe = True  # Keras does not need to wait for the device after each step

    def __init__(
        self,
        *,
        every_seconds: float = 5.0,
        stall_seconds: float = 60.0,
        stop_on_nan: bool = False,
        say: Callable[[str], object] | None = None,
        report: str | None = None,
    ) -> None:
        """Set the options; monitoring starts with the training.

        Args:
            every_seconds: between two checks of the GPUs, memory and step times.
            stall_seconds: a step that takes longer than this, and 20 times as long as usual, is a stall. A GPU that does nothing
                for so long while others work is idle.
            stop_on_nan: end the training at the first loss that is not finite.
            say: called with each line; None: print it on standard error.
            report: a file for the summary; its name ends in .json, .md or .html.

        Raises:
            ValueError: a time that is not positive, or a report of another kind.
        """
        if not (every_seconds > 0 and stall_seconds > 0):
            raise ValueError(
                "every_seconds and stall_seconds are positive."
                f" Received: every_seconds={every_seconds!r}, stall_seconds={stall_seconds!r}"
            )
        if report is not None and not report.endswith((".json", ".md", ".html")):
            raise ValueError(f"report ends in .json, .md or .html. Received: report={report!r}")
        super().__init__()
        self.events: list[Event] = []
        self.summary: Summary | None = None
        self._say = say or (lambda line: print(f"\n{line}", file=sys.stderr, flush=True))
        self._stop_on_nan, self._nan_reported, self._epoch = stop_on_nan, False, 0
        self._times, self._report_file = (every_seconds, stall_seconds), report
        self._fit: Fit | None = None

    def _repr_html_(self) -> str:
        """Return the summary as a page, in a notebook."""
        return "" if self.summary is None else self.summary._repr_html_()

    @_harmless
    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Start monitoring."""
        self._nan_reported = False
        if self._fit is not None:  # a fit that an exception ended
            self._fit.stop()
        self._fit = Fit(self.model, keras.backend.backend(), self._report, *self._times)
        self._fit.start()

    @_harmless
    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Stop monitoring, and sum up."""
        if self._fit is None:
            return
        self._fit.stop()
        self.summary = self._fit.summary(self.events)
        self._say("\n".join(lines(self.summary)))
        if self._report_file is not None:
            try:
                write(self.summary, self._report_file)
            except OSError as error:
                self._say(f"gpucheck: no report was written: {error}")

    def __del__(self) -> None:
        """Stop monitoring; training that ends by an exception does not call ``on_train_end``."""
        if (fit := getattr(self, "_fit", None)) is not None:
            fit.stop()

    @_harmless
    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the epoch."""
        self._epoch = epoch
        if self._fit is not None:
            self._fit.times.epoch_begins()

    @_harmless
    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the epoch's time and metrics, and pause until the next one starts."""
        if self._fit is not None:
            self._fit.steps_end(self.params)
            self._fit.epoch_ends(epoch, logs or {})

    @_harmless
    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Pause: validation has no training steps."""
        if self._fit is not None:
            self._fit.steps_end(self.params)

    @_harmless
    def on_train_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the time."""
        if self._fit is not None:
            self._fit.step_begins(batch)

    @_harmless
    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the time, and check the metrics that Keras passes anyway."""
        if self._fit is not None:
            self._fit.step_ends(batch)
        if not self._nan_reported:
            for name, value in (logs or {}).items():
                if isinstance(value, float) and not math.isfinite(value):
                    self._not_finite(name, value, batch)
                    return

    def _not_finite(self, name: str, value: float, batch: int) -> None:
        self._nan_reported = True
        rate = getattr(getattr(self.model, "optimizer", None), "learning_rate", None)
        try:
            number = None if rate is None else float(rate)
        except (TypeError, ValueError):  # a schedule without a current value
            number = None
        precision = str(keras.config.dtype_policy().name)
        self._report(not_finite(name, value, self._epoch, batch, precision, number, self._stop_on_nan))
        if self._stop_on_nan:
            self.model.stop_training = True

    def _report(self, event: Event) -> None:
        self.events.append(event)
        self._say(str(event))
