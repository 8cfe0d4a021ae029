"""The callback that monitors training, which users import from ``gpucheck.keras``. Requires Keras 3."""

import contextlib
import functools
import math
import numbers
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import keras
import msgspec

from gpucheck.commands.watch import running, workers
from gpucheck.commands.watch.fit import Fit
from gpucheck.commands.watch.judge import Event, not_finite
from gpucheck.commands.watch.summary import Summary, lines, print_lines, write

_Batch = TypeVar("_Batch")


def _harmless(method: Callable[..., None]) -> Callable[..., None]:
    """Return a method that, on an error, ends the monitoring with one line, and lets the training continue."""

    @functools.wraps(method)
    def call(self: "Watch", *args: Any, **kwargs: Any) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            fit, self._fit = self._fit, None
            with contextlib.suppress(Exception):
                if fit is not None:
                    fit.stop()
                self._say(f"gpucheck: Watch has stopped; training continues: {type(error).__name__}: {error}")

    return call


class Watch(keras.callbacks.Callback):  # type: ignore[misc,unused-ignore]
    """A callback that reports what limits the speed of training, an unused GPU, throttling, a stall, low memory and NaN.

    Each problem is one line, reported once, and again if it returns. At the end, at most three lines summarize the training: its
    rate, how long its steps waited for data, how busy the GPUs were, what limits the speed, and what to change.
    A thread checks every few seconds; a child process queries NVML, so that a driver that hangs or crashes does not affect the
    training. The cost per step is a few microseconds.

    If several processes train together (TF_CONFIG, Slurm, mpirun, torchrun, horovodrun), the first one prints the summary: of all
    processes if each writes its report to a shared folder, otherwise of its own training.

    Attributes:
        events: the reported problems, in order; each has ``code`` (``gpucheck explain CODE``) and ``text``.
        worker: ``number`` and ``count``, if several processes train together.
    """

    async_safe = True  # Keras does not need to wait for the device after each step

    def __init__(
        self,
        *,
        every_seconds: float = 5.0,
        stall_seconds: float = 60.0,
        stop_on_nan: bool = False,
        say: Callable[[str], object] | None = None,
        report: str | workers.Path | None = None,
    ) -> None:
        """Set the options; monitoring starts with the training.

        Args:
            every_seconds: interval between two checks of the GPUs, memory and step times.
            stall_seconds: a step that takes longer than this, and 20 times as long as usual, is a stall. A GPU without activity
                for this time, while others work, is idle.
            stop_on_nan: end the training at the first loss that is not finite.
            say: called with each line, possibly by another thread; None: print it on standard error.
            report: a file for the summary; its name ends in .json, .md or .html. Of several workers the first one writes it; with
                "{rank}" in the name, of a .json file in a folder that all share, each writes its own, and the first reads them.

        Raises:
            ValueError: a time that is not positive, something other than a function, a report of another kind, or in a folder
                that does not exist.
        """
        for name, value in (("every_seconds", every_seconds), ("stall_seconds", stall_seconds)):
            if not isinstance(value, numbers.Real) or not value > 0:
                raise ValueError(f"{name} must be a positive number. Received: {name}={value!r}")
        if say is not None and not callable(say):
            raise ValueError(f"say must be a function. Received: say={say!r}")
        super().__init__()
        self.events: list[Event] = []
        self._summary: Summary | None = None
        self._print, self.worker = say, workers.worker()
        self._stop_on_nan, self._nan_reported, self._epoch = stop_on_nan, False, 0
        self._times = float(every_seconds), float(stall_seconds)
        self._report_file = None if report is None else workers.verified(report, self.worker)
        self._fit: Fit | None = None
        self._events_before = 0
        shared = self._report_file is not None and workers.RANK in self._report_file
        self._shared = self._report_file if shared else None  # each worker writes one

    @property
    def summary(self) -> Summary | None:
        """The figures of the last fit, even if an exception ended it; None before its end."""
        fit = self._fit
        if fit is not None and not fit.running:
            self._end(fit, interrupted=True)
        return self._summary

    def _repr_html_(self) -> str:
        """Return the summary as a page, in a notebook."""
        return "" if self.summary is None else self.summary._repr_html_()

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Start monitoring."""
        self._begin()

    @_harmless
    def _begin(self, *, own_loop: bool = False, batch_size: int | None = None) -> None:
        if self._fit is not None and not self._fit.running:
            self._end(self._fit, interrupted=True)
        if self._fit is not None:  # an inner fit, or one whose end is unknown
            self._fit.stop()
        self._nan_reported, self._events_before, self._summary = False, len(self.events), None
        watch = weakref.ref(self)

        def interrupted(fit: Fit) -> None:
            if (alive := watch()) is not None:
                alive._end(fit, interrupted=True)

        backend = keras.backend.backend()
        self._fit = Fit(
            self.model,
            backend,
            self._report,
            *self._times,
            own_loop=own_loop,
            batch_size=batch_size,
            interrupted=interrupted,
        )
        self._fit.start()
        if self._fit.running.known:
            running.unfinished.add(self)
        if self._shared is not None and not self.worker.number:
            workers.forget(self._shared, self.worker.count)

    @_harmless
    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Stop monitoring, and print the summary."""
        if self._fit is not None:
            self._end(self._fit)

    @_harmless
    def _end(self, fit: Fit, *, interrupted: bool = False) -> None:
        """Stop monitoring a fit and summarize it, unless another thread already has."""
        with running.ending:
            if fit.ended:
                return
            fit.ended = True
            try:
                self._sum_up(fit, interrupted=interrupted)
            finally:
                if self._fit is fit:
                    self._fit = None
                    running.unfinished.discard(self)

    def _sum_up(self, fit: Fit, *, interrupted: bool) -> None:
        if interrupted:
            fit.interrupt(self._epoch)
        fit.stop()
        number, count = self.worker.number, self.worker.count
        summary = msgspec.structs.replace(fit.summary(self.events[self._events_before :]), worker=number, workers=count)
        self._summary = summary
        if self._report_file is not None and (self._shared is not None or not number):
            try:
                write(summary, self._report_file.replace(workers.RANK, str(number)))
            except OSError as error:
                self._say(f"gpucheck: cannot write {self._report_file}: {error.strerror or error}")
        if number or (interrupted and not summary.steps):  # the exception explains why it never began
            return
        if self._shared is not None and count > 1 and not interrupted:
            self._say("\n".join(workers.together(workers.collect(self._shared, summary), count)))
        else:
            self._say("\n".join(lines(summary)))

    def steps(self, batches: Iterable[_Batch], *, epochs: int = 1, batch_size: int | None = None) -> Iterator[_Batch]:
        """Yield the batches of a custom training loop, and watch what it does with each: ``for x, y in watch.steps(data):``.

        The time until the next batch is the wait for data. At the end, a summary is printed, as after a ``fit``.

        Args:
            batches: the data of an epoch.
            epochs: how often to iterate over the data.
            batch_size: samples of this process in each batch; None: the rate is unknown.

        Raises:
            ValueError: several epochs of a generator, which can be read only once.
        """
        if epochs > 1 and isinstance(batches, types.GeneratorType):
            raise ValueError("a generator can be read only once: for several epochs, pass the data that it is created from")
        self._begin(own_loop=True, batch_size=batch_size)
        try:
            for epoch in range(epochs):
                self.on_epoch_begin(epoch)
                try:
                    for number, batch in enumerate(batches):
                        self.on_train_batch_begin(number)
                        yield batch
                        self.on_train_batch_end(number)
                finally:  # even if the program leaves the loop early
                    self.on_epoch_end(epoch)
        finally:
            self.on_train_end()

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
            self._fit.steps_end(self.params, reported=True)
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

    def _say(self, text: str) -> None:
        if self._print is None:
            print_lines(text)
            return
        for line in text.splitlines():
            self._print(line)

    def _report(self, event: Event) -> None:
        self.events.append(event)
        name = f"worker {self.worker.number}: " if self.worker.count > 1 else ""
        self._say(str(event._replace(text=f"{name}{event.text}")))
