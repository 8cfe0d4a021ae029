"""Record each step while ``Model.fit`` trains."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpucheck.core.child.messages.training import Trained
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.child.smoke import proof


def recorder(
    keras: Any, reporter: Reporter, job: str, before: Callable[[], None], after: Callable[[], None], together: int
) -> Any:
    """A callback that times each step and recovers its loss and accuracy.

    Args:
        keras: the module that trains.
        reporter: the report to the parent.
        job: id of the job.
        before: called before the first step.
        after: called after it.
        together: steps of one execution: Keras reports them together.

    Returns:
        ``seconds`` (of a step, one per execution, until its results are available; the first execution's are not divided, because
        tracing and compiling dominate) and ``means`` (one per execution).
    """

    class Recorder(keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seconds: list[float] = []
            self.means = proof.Means()
            self._began = 0.0

        def on_train_begin(self, logs: Any = None) -> None:
            reporter.begin(Trained, job, "first step")
            before()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self._began = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.means.add(logs)  # waits for pending results
            seconds = time.perf_counter() - self._began
            self.seconds.append(seconds / together if self.seconds else seconds)
            if len(self.seconds) == 1:
                after()
                reporter.begin(Trained, job, "steps")

    return Recorder()
