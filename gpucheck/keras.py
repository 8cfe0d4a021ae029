"""A callback that monitors training: ``model.fit(..., callbacks=[gpucheck.keras.Watch()])``. Requires Keras 3."""

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import keras

from gpucheck.commands.watch.judge import Event, not_finite
from gpucheck.commands.watch.monitor import Monitor

__all__ = ["Event", "Watch"]


class Watch(keras.callbacks.Callback):  # type: ignore[misc,unused-ignore]
    """Print one line when a GPU is throttled or lost, a step stalls, memory runs out, or a loss is NaN.

    Each problem is reported once, and again if it returns. A thread checks every few seconds; a child process queries NVML, so
    that a driver that hangs or crashes does not affect the training. The cost per step is a few microseconds.

    Attributes:
        events: what was reported, in order; each has ``code`` (``gpucheck explain CODE``) and ``text``.
    """

    async_safe = True  # Keras does not need to wait for the device after each step

    def __init__(
        self,
        *,
        every_seconds: float = 5.0,
        stall_seconds: float = 60.0,
        stop_on_nan: bool = False,
        say: Callable[[str], object] | None = None,
    ) -> None:
        """Set the options; monitoring starts with the training.

        Args:
            every_seconds: between two checks of the GPUs, memory and step times.
            stall_seconds: a step that takes longer than this, and 20 times as long as usual, is a stall.
            stop_on_nan: end the training at the first loss that is not finite.
            say: called with each line; None: print it on standard error.

        Raises:
            ValueError: a time that is not positive.
        """
        if not (every_seconds > 0 and stall_seconds > 0):
            raise ValueError(
                "every_seconds and stall_seconds are positive."
                f" Received: every_seconds={every_seconds!r}, stall_seconds={stall_seconds!r}"
            )
        super().__init__()
        self.events: list[Event] = []
        self._say = say or (lambda line: print(f"\n{line}", file=sys.stderr, flush=True))
        self._stop_on_nan, self._nan_reported, self._epoch = stop_on_nan, False, 0
        self._times = every_seconds, stall_seconds
        self._monitor = Monitor(self._report, *self._times)

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Start monitoring."""
        self._nan_reported = False
        self._monitor = Monitor(self._report, *self._times)
        self._monitor.start()

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Stop monitoring."""
        self._monitor.stop()

    def __del__(self) -> None:
        """Stop monitoring; training that ends by an exception does not call ``on_train_end``."""
        if hasattr(self, "_monitor"):
            self._monitor.stop()

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the epoch."""
        self._epoch = epoch

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Pause until the next epoch starts."""
        self._monitor.pause()

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Pause: validation has no training steps."""
        self._monitor.pause()

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the time, and check the metrics that Keras passes anyway."""
        self._monitor.step()
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
        self._report(not_finite(name, value, self._epoch, batch, precision, number))
        if self._stop_on_nan:
            self.model.stop_training = True

    def _report(self, event: Event) -> None:
        self.events.append(event)
        self._say(str(event))
