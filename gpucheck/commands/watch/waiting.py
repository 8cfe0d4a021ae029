"""Measure how long the steps of a fit wait for their data.

On TensorFlow, Keras fetches a batch inside the compiled step, so a callback can't see the fetch. While Keras traces the step, the
operation that fetches is placed between two timestamps, whose difference is added to a counter: a few microseconds per step. On
other backends Keras fetches between two steps, and the callbacks themselves show it.
"""

import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any

_MODULES = ("tensorflow.python.ops.gen_dataset_ops", "tensorflow.python.ops.gen_optional_ops")
_FETCHES = ("iterator_get_next", "iterator_get_next_as_optional")


COMPILED_BEFORE = (
    "the model's training step was compiled before Watch could measure it. Pass Watch to the first fit, or call model.compile()"
    " again before this one"
)
REMOTE = "the steps run on another machine"
UNKNOWN_RELEASE = "this release of TensorFlow fetches data in a different way"


class GapWait:
    """The time from the end of a step to the beginning of the next, in which Keras on JAX and PyTorch fetches."""

    why_unmeasured = ""  # why ``seconds`` may be None or unchanged
    between_steps = True  # whether the data is fetched between the steps, including before the first step of an epoch

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock, self._seconds = clock, 0.0
        self._ended: float | None = None

    def trace(self) -> None:
        """Do nothing: there is nothing to prepare."""

    def traced(self) -> None:
        """Do nothing: there is nothing to restore."""

    def begin(self) -> None:
        """Record that a step begins with its data."""
        if self._ended is not None:
            self._seconds += max(0.0, self._clock() - self._ended)

    def end(self) -> None:
        """Record the end of a step, or of the work before the first one: a step follows as soon as its data is ready."""
        self._ended = self._clock()

    def pause(self) -> None:
        """Record that no step follows directly."""
        self._ended = None

    def seconds(self) -> float | None:
        """Return the seconds waited so far."""
        return self._seconds


class Unmeasured(GapWait):
    """A wait that can't be measured."""

    between_steps = False

    def __init__(self, why: str) -> None:
        """Set the reason."""
        super().__init__()
        self.why_unmeasured = why

    def seconds(self) -> float | None:
        """Return None."""
        return None


class TensorFlowWait(GapWait):
    """The time of the fetches inside the compiled step; simultaneous fetches of several replicas are counted once."""

    between_steps = False
    why_unmeasured = COMPILED_BEFORE
    _counters: dict[str, Any] = {}  # noqa: RUF012 - shared by the process: a traced step keeps its counter

    def __init__(self, tensorflow: Any, replicas: int) -> None:
        """Create the counters in TensorFlow.

        Args:
            tensorflow: the module, as the program imported it.
            replicas: number of replicas; each fetches its own part of a batch.
        """
        super().__init__()
        self._tf, self._replicas = tensorflow, replicas
        self._originals: list[tuple[Any, str, Any]] = []
        if not self._counters:
            for name in ("seconds", "until"):
                shared = f"gpucheck_wait_{name}"
                with tensorflow.device("CPU:0"):
                    handle = tensorflow.raw_ops.VarHandleOp(dtype=tensorflow.float64, shape=(), shared_name=shared)
                    tensorflow.raw_ops.AssignVariableOp(resource=handle, value=tensorflow.zeros((), tensorflow.float64))
                self._counters[name] = handle

    def trace(self) -> None:
        """Put timestamps around each fetch that is traced from now on."""
        for module in filter(None, map(sys.modules.get, _MODULES)):
            for name in _FETCHES:
                if original := getattr(module, name, None):
                    self._originals.append((module, name, original))
                    setattr(module, name, self._stamped(original))

    def traced(self) -> None:
        """Restore TensorFlow's functions."""
        for module, name, original in self._originals:
            setattr(module, name, original)
        self._originals.clear()

    def seconds(self) -> float | None:
        """Return the seconds waited so far; None if the step was traced before it could be measured."""
        if "traced" not in self._counters:
            return None
        return float(self._tf.raw_ops.ReadVariableOp(resource=self._counters["seconds"], dtype=self._tf.float64))

    def _stamped(self, fetch: Callable[..., Any]) -> Callable[..., Any]:
        tf = self._tf

        def stamped(*args: Any, **kwargs: Any) -> Any:
            if tf.executing_eagerly():
                return fetch(*args, **kwargs)
            self._counters["traced"] = True
            with tf.device("CPU:0"):
                before = tf.timestamp()
            with tf.control_dependencies([before]):
                fetched = fetch(*args, **kwargs)
            with tf.control_dependencies(fetched if isinstance(fetched, list) else [fetched]), tf.device("CPU:0"):
                self._count(before, tf.timestamp())
            return fetched

        return stamped

    def _count(self, before: Any, after: Any) -> None:
        """Add a fetch to the counters, without its overlap with other replicas' fetches; TensorFlow keeps the order."""
        tf, ops, seconds, until = self._tf, self._tf.raw_ops, self._counters["seconds"], self._counters["until"]
        if self._replicas == 1:
            ops.AssignAddVariableOp(resource=seconds, value=after - before)
            return
        covered = ops.ReadVariableOp(resource=until, dtype=tf.float64)
        ops.AssignAddVariableOp(resource=seconds, value=tf.maximum(after - tf.maximum(before, covered), 0.0))
        ops.AssignVariableOp(resource=until, value=tf.maximum(after, covered))


def input_wait(backend: str, replicas: int) -> GapWait:
    """Return the measurement of the wait for a Keras backend, without importing TensorFlow."""
    if backend != "tensorflow":
        return GapWait()
    with contextlib.suppress(Exception):  # the operations have other names in other releases
        return TensorFlowWait(sys.modules["tensorflow"], replicas)
    return Unmeasured(UNKNOWN_RELEASE)
