"""One fit: what Keras reports of it goes to the clock and the monitor, and becomes a summary."""

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
from gpucheck.commands.watch.limits import LONG_WAIT_SHARE, limit
from gpucheck.commands.watch.monitor import Monitor
from gpucheck.commands.watch.summary import Limit, Metric, Summary
from gpucheck.commands.watch.times import Times
from gpucheck.commands.watch.waiting import GapWait, Unmeasured, input_wait

_SMALLER_IS_BETTER = ("loss", "error", "mae", "mse", "rmse", "mape", "msle", "perplexity")


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
    ) -> None:
        """Prepare.

        Args:
            model: the Keras model.
            backend: of Keras.
            report: called with each event.
            every_seconds: between two checks of the monitor.
            stall_seconds: the time without a finished step that is reported, and the time of a lasting wait for data.
            batch_size: samples of a step; None: Keras counts them.
            own_loop: the program fetches the data between the steps, and not Keras.
        """
        self._model, self._backend, self._say = model, backend, report
        self._tensorflow = sys.modules.get("tensorflow") if backend == "tensorflow" else None
        self._strategy = getattr(model, "distribute_strategy", None) if self._tensorflow is not None else None
        self._replicas = int(getattr(self._strategy, "num_replicas_in_sync", 1))
        self._at_once = int(getattr(model, "steps_per_execution", 1))
        remote = "TPU" in type(self._strategy).__name__  # its steps may run on another host, with another clock
        wait = Unmeasured() if remote else GapWait() if own_loop else input_wait(backend, self._replicas)
        self.times, self._batch_size = Times(wait), batch_size
        self._monitor = Monitor(self._report, every_seconds, stall_seconds)
        self._window = stall_seconds
        self._looked: tuple[float, float] | None = None  # when, and the seconds waited until then
        self._waits = False  # whether a wait for data was reported
        self._validation: dict[str, list[tuple[float, float]]] = {}  # value, and seconds since the begin
        self._devices: unused.Devices | None = None
        self._finite = True  # whether all metrics of the last epoch were

    def start(self) -> None:
        """Start the monitor."""
        self._monitor.start()

    def stop(self) -> None:
        """Stop the monitor after its last sample, and leave the framework as it was."""
        self.times.wait.traced()
        self._monitor.stop()

    def step_begins(self, first: int) -> None:
        """Steps from this number of the epoch on, from 0, begin, in the thread that trains."""
        self.times.step_begins(first, self._at_once)
        if self.times.first_step_seconds is None:
            return
        if self._devices is None and self._tensorflow is not None:
            self._devices = self._monitor.devices = unused.devices(self._tensorflow, self._model)
        now = time.monotonic()
        if self._looked is None or now - self._looked[0] >= self._window:
            self._look(now)

    def step_ends(self, last: int) -> None:
        """Steps up to this number of the epoch, from 0, have ended."""
        self.times.step_ends(last)
        self._monitor.step()

    def steps_end(self, params: Mapping[str, Any] | None, *, reported: bool = False) -> None:
        """All steps of the epoch have ended, and, if ``reported``, Keras has said so of each; validation or an epoch follows."""
        self._monitor.pause()
        self._looked = None
        count = self._batch_size and float(self._batch_size * self.times.epoch_steps)
        planned = (params or {}).get("steps")  # the end of data is a step that begins and fetches nothing
        known = [number for number in (planned, self.times.ended_steps if reported else None) if number is not None]
        self.times.steps_end(min(known, default=None), count or self._samples())

    def epoch_ends(self, epoch: int, logs: Mapping[str, Any]) -> None:
        """An epoch ended, with these metrics."""
        self.times.epoch_ends()
        self._finite = all(math.isfinite(value) for value in logs.values() if isinstance(value, float))
        for name, value in logs.items():
            if name.startswith("val_") and isinstance(value, float) and math.isfinite(value):
                self._validation.setdefault(name, []).append((value, self.times.elapsed()))

    def summary(self, events: Sequence[Event]) -> Summary:
        """Return the figures, with the problems that were reported."""
        times, monitor = self.times, self._monitor
        device = None if self._devices is None else self._devices.model
        summary = Summary(
            seconds=times.elapsed(),
            epochs=len(times.epochs),
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
        found = self._useless(events) or limit(summary, place, monitor.processors)
        return msgspec.structs.replace(summary, limit=found)

    def _useless(self, events: Sequence[Event]) -> Limit | None:
        """Why the speed of this training does not matter."""
        if (event := self._monitor.not_used) is not None:
            return Limit(code=event.code, text="the training ran on the CPU, and the machine's GPUs were not used: see above")
        if not self._finite and (lost := next((event for event in events if event.code == "loss-not-finite"), None)):
            return Limit(code=lost.code, text=f"{re.split(r' [(]|[.] ', lost.text, maxsplit=1)[0]}, and stayed so: see above")
        return None

    def _report(self, event: Event) -> None:
        self._waits = self._waits or event.code == "input-pipeline-bound"
        self._say(event)

    def _look(self, now: float) -> None:
        """Report once that the steps of the last while mostly waited for data."""
        waited = self.times.wait.seconds()
        if waited is None:
            return
        if self._looked is not None and not self._waits:
            seconds = now - self._looked[0]
            share = min((waited - self._looked[1]) / seconds, 1.0)
            if share >= LONG_WAIT_SHARE:
                self._report(waiting(share, seconds))
        self._looked = now, waited

    def _samples(self) -> float | None:
        """The samples of this epoch: Keras counts them for the mean of the loss. None: a training step that does not."""
        count: Any = getattr(getattr(self._model, "_loss_tracker", None), "count", None)
        with contextlib.suppress(Exception):  # a release of Keras that counts in another way
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
            except Exception:  # an allocator that does not count
                peaks.append(None)
        return tuple(peaks)


def _best(metrics: Mapping[str, list[tuple[float, float]]]) -> Metric | None:
    """The first validation metric that is not the loss, else the loss."""
    name = next((name for name in metrics if name != "val_loss"), "val_loss" if "val_loss" in metrics else None)
    if name is None:
        return None
    values = metrics[name]
    smaller = any(word in name for word in _SMALLER_IS_BETTER)
    best = (min if smaller else max)(range(len(values)), key=lambda place: values[place][0])
    return Metric(name=name, last=values[-1][0], best=values[best][0], best_epoch=best + 1, best_after_seconds=values[best][1])
