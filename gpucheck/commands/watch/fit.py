"""One fit: pass Keras' events to the clock and the monitor, and summarize them."""

import contextlib
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from gpucheck.commands.watch import unused
from gpucheck.commands.watch.judge import Event, waiting
from gpucheck.commands.watch.limits import LONG_WAIT_SHARE, Pipeline, limit
from gpucheck.commands.watch.monitor import Monitor
from gpucheck.commands.watch.running import Running
from gpucheck.commands.watch.summary import Summary
from gpucheck.commands.watch.times import Times
from gpucheck.commands.watch.waiting import REMOTE, GapWait, Unmeasured, input_wait
from gpucheck.core.model.fit import Limit, Metric

_SMALLER_IS_BETTER = (
    *("loss", "error", "mae", "mse", "rmse", "mape", "msle", "perplexity"),
    *("crossentropy", "divergence", "poisson", "hinge", "logcosh", "false_"),
)


class Fit:
    """One call of ``fit``."""

    def __init__(
        self,
        model: Any,
        backend: str,
        report: Callable[[Event], None],
        every_seconds: float,
        stall_seconds: float,
        *,
        batch_size: int | None = None,
        own_loop: bool = False,
        interrupted: Callable[["Fit"], None] = lambda fit: None,
    ) -> None:
        """Prepare to watch a fit.

        Args:
            model: the Keras model.
            backend: Keras' backend.
            report: called with each event.
            every_seconds: interval between two checks of the monitor.
            stall_seconds: minimum time without a finished step, or of waiting for data, that is reported.
            batch_size: samples per step; None: Keras counts them.
            own_loop: whether the program, not Keras, fetches the data, between the steps.
            interrupted: called in the monitor's thread if an exception has ended the fit.
        """
        self._model, self._backend, self._say, self._own_loop = model, backend, report, own_loop
        self._tensorflow = sys.modules.get("tensorflow") if backend == "tensorflow" else None
        self._strategy = getattr(model, "distribute_strategy", None) if self._tensorflow is not None else None
        self._replicas = int(getattr(self._strategy, "num_replicas_in_sync", 1))
        self._at_once = int(getattr(model, "steps_per_execution", 1))
        remote = "TPU" in type(self._strategy).__name__  # its steps may run on another host, with another clock
        wait = Unmeasured(REMOTE) if remote else GapWait() if own_loop else input_wait(backend, self._replicas)
        self.times, self._batch_size = Times(wait), batch_size
        self.running = Running(own_loop=own_loop)
        self._monitor = Monitor(self._report, every_seconds, stall_seconds, self._is_running, lambda: interrupted(self))
        self._window = stall_seconds
        self._last_check: tuple[float, float] | None = None  # time of the last check, and the seconds waited until then
        self._waits = False  # whether a wait for data was reported
        self._validation: dict[str, list[tuple[float, int, float]]] = {}  # values, each with the seconds since the start
        self._devices: unused.Devices | None = None
        self._interrupted: str | None = None
        self.ended = False  # whether it was summarized
        self._finite = True  # whether all metrics of the last epoch were finite

    def start(self) -> None:
        """Report missing devices of the strategy, then start the monitor."""
        event = unused.unlisted(self._tensorflow, self._strategy)
        if event is not None:
            self._say(event)
        self._monitor.start()

    def stop(self) -> None:
        """Stop the monitor after its last sample, and restore the framework."""
        self.running.release()
        self.times.wait.traced()
        self._monitor.stop()

    def interrupt(self, epoch: int) -> None:
        """Record that an exception has ended the fit in or after an epoch, from 0."""
        self._interrupted = f"{'in' if self.times.in_epoch else 'after'} epoch {epoch + 1}"
        self.times.interrupt()

    def _is_running(self) -> bool:
        if not self.running:
            return False
        self.times.mark((self._batch_size and float(self._batch_size * self.times.ended_steps)) or self._samples())
        return True

    def step_begins(self, first: int) -> None:
        """Record that steps begin, in the training thread; ``first``: number of the first one in its epoch, from 0."""
        self.times.step_begins(first, self._at_once)
        if self.times.first_step_seconds is None:
            return
        if self._devices is None and self._tensorflow is not None:
            self._devices = self._monitor.devices = unused.devices(self._tensorflow, self._model)
        now = time.monotonic()
        if self._last_check is None or now - self._last_check[0] >= self._window:
            self._check_waiting(now)

    def step_ends(self, last: int) -> None:
        """Record that steps have ended; ``last``: number of the last one in its epoch, from 0."""
        self.times.step_ends(last)
        self._monitor.step()

    def steps_end(self, params: Mapping[str, Any] | None, *, reported: bool = False) -> None:
        """Record that all steps of the epoch have ended; ``reported``: Keras has reported each of them."""
        self._monitor.pause()
        self._last_check = None
        # At the end of the data, one more step begins and fetches nothing. For a custom loop, Keras reports only the validation.
        planned = None if self._own_loop else (params or {}).get("steps")
        known = [number for number in (planned, self.times.ended_steps if reported else None) if number is not None]
        count = self._batch_size and float(self._batch_size * min([self.times.epoch_steps, *known]))
        self.times.steps_end(min(known, default=None), count or self._samples())

    def epoch_ends(self, epoch: int, logs: Mapping[str, Any]) -> None:
        """Record the end of an epoch, with its metrics."""
        self.times.epoch_ends()
        self._finite = all(math.isfinite(value) for value in logs.values() if isinstance(value, float))
        for name, value in logs.items():
            if name.startswith("val_") and isinstance(value, float) and math.isfinite(value):
                self._validation.setdefault(name, []).append((value, epoch + 1, self.times.elapsed()))

    def summary(self, events: Sequence[Event]) -> Summary:
        """Return the figures and the reported problems."""
        times, monitor = self.times, self._monitor
        device = None if self._devices is None else self._devices.model
        summary = Summary(
            seconds=times.elapsed(),
            epochs=len(times.epochs),
            interrupted=self._interrupted,
            steps=times.steps,
            epoch_seconds=tuple(times.epochs),
            median_epoch_seconds=times.median_epoch_seconds,
            first_step_seconds=times.first_step_seconds,
            step_seconds=times.step_seconds,
            samples_per_second=times.samples_per_second,
            input_wait_share=times.input_wait_share,
            input_wait_exact=(device == "CPU" or not monitor.gpus.known) and self._at_once == 1,
            backend=self._backend,
            device=device,
            replicas=self._replicas,
            gpus=monitor.gpus.uses(self._peaks()) if device != "CPU" else monitor.gpus.uses(()),
            validation=_best(self._validation),
            events=tuple((event.code, event.text) for event in events),
        )
        place = monitor.places.most_common(1)[0][0] if monitor.places else None
        pipeline = Pipeline(self.running.data, place, monitor.processors, times.wait.why_unmeasured)
        found = self._speed_irrelevant(events) or limit(summary, pipeline)
        return msgspec.structs.replace(summary, limit=found)

    def _speed_irrelevant(self, events: Sequence[Event]) -> Limit | None:
        """Return the reason why the speed of this training does not matter; None if it matters."""
        if (event := self._monitor.not_used) is not None:
            return Limit(code=event.code, text="the training ran on the CPU, and did not use the machine's GPUs")
        if not self._finite and (lost := next((event for event in events if event.code == "loss-not-finite"), None)):
            return Limit(code=lost.code, text=re.split(r" [(]|[.] ", lost.text, maxsplit=1)[0])
        return None

    def _report(self, event: Event) -> None:
        self._waits = self._waits or event.code == "input-pipeline-bound"
        self._say(event)

    def _check_waiting(self, now: float) -> None:
        """Report once if the steps mostly waited for data since the last check."""
        waited = self.times.wait.seconds()
        if waited is None:
            return
        if self._last_check is not None and not self._waits:
            seconds = now - self._last_check[0]
            share = min((waited - self._last_check[1]) / seconds, 1.0)
            if share >= LONG_WAIT_SHARE:
                self._report(waiting(share, seconds))
        self._last_check = now, waited

    def _samples(self) -> float | None:
        """Return the samples of this epoch, which Keras counts for the mean loss; None if the step does not count them."""
        count: Any = getattr(getattr(self._model, "_loss_tracker", None), "count", None)
        with contextlib.suppress(Exception):  # other releases of Keras may count differently
            if self._strategy is None:
                return float(count) or None
            parts = self._strategy.experimental_local_results(count._value)
            return sum(map(float, parts)) or None
        return None

    def _peaks(self) -> tuple[int | None, ...]:
        peaks: list[int | None] = []
        for place in range(0 if self._devices is None else self._devices.visible):
            try:
                peaks.append(int(self._tensorflow.config.experimental.get_memory_info(f"GPU:{place}")["peak"]))  # type: ignore[union-attr]
            except Exception:  # not every allocator reports it
                peaks.append(None)
        return tuple(peaks)


def _best(metrics: Mapping[str, list[tuple[float, int, float]]]) -> Metric | None:
    """Return the first validation metric other than the loss, or else the loss."""
    name = next((name for name in metrics if name != "val_loss"), "val_loss" if "val_loss" in metrics else None)
    if name is None:
        return None
    values = metrics[name]
    smaller = any(word in name for word in _SMALLER_IS_BETTER)
    best, epoch, seconds = (min if smaller else max)(values, key=lambda value: value[0])
    return Metric(name=name, last=values[-1][0], best=best, best_epoch=epoch, best_after_seconds=seconds)
