"""A callback that watches a training: ``model.fit(..., callbacks=[gpucheck.keras.Watch()])``. Needs Keras 3."""

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import keras

from gpucheck.commands.watch.judge import Event, not_finite
from gpucheck.commands.watch.monitor import Monitor

__all__ = ["Event", "Watch"]


class Watch(keras.callbacks.Callback):  # type: ignore[misc,unused-ignore]
    """Say in one line, when it happens: a GPU is throttled or lost, no step ends, memory runs out, a loss is NaN.

    Each is said once, and again if it comes back. A thread looks every few seconds; a child process asks NVML, so that a driver
    which hangs or crashes takes no part of the training with it. A step itself costs a few microseconds.

    Attributes:
        events: what was said, in order; each has ``code`` (``gpucheck explain CODE``) and ``text``.
    """

    async_safe = True  # Keras need not wait for the device after every step

    def __init__(
        self,
        *,
        every_seconds: float = 5.0,
        stall_seconds: float = 60.0,
        stop_on_nan: bool = False,
        say: Callable[[str], object] | None = None,
    ) -> None:
        """Watch nothing yet.

        Args:
            every_seconds: between two looks at the GPUs, memory and the time of steps.
            stall_seconds: a step that takes longer, and 20 times as long as usual, is called a stall.
            stop_on_nan: end the training at the first loss that is not finite.
            say: called with each line; None: it goes to standard error.

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
        self._stop_on_nan, self._told_of_nan, self._epoch = stop_on_nan, False, 0
        self._times = every_seconds, stall_seconds
        self._monitor = Monitor(self._tell, *self._times)

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Begin."""
        self._told_of_nan = False
        self._monitor = Monitor(self._tell, *self._times)
        self._monitor.start()

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """End."""
        self._monitor.stop()

    def __del__(self) -> None:
        """A training that ended by an exception does not say so."""
        if hasattr(self, "_monitor"):
            self._monitor.stop()

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Remember which."""
        self._epoch = epoch

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """No step is awaited until the next epoch begins."""
        self._monitor.pause()

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Validation has no training steps."""
        self._monitor.pause()

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Note the time, and look at the numbers that Keras hands over anyway."""
        self._monitor.step()
        if not self._told_of_nan:
            for name, value in (logs or {}).items():
                if isinstance(value, float) and not math.isfinite(value):
                    self._not_finite(name, value, batch)
                    return

    def _not_finite(self, name: str, value: float, batch: int) -> None:
        self._told_of_nan = True
        rate = getattr(getattr(self.model, "optimizer", None), "learning_rate", None)
        try:
            number = None if rate is None else float(rate)
        except (TypeError, ValueError):  # a schedule that can't tell
            number = None
        precision = str(keras.config.dtype_policy().name)
        self._tell(not_finite(name, value, self._epoch, batch, precision, number))
        if self._stop_on_nan:
            self.model.stop_training = True

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        self._say(str(event))
