"""What is noted of each step while ``Model.fit`` trains."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import proof


def recorder(
    keras: Any,
    stages: Stages,
    stage: str,
    before: Callable[[], Any] | None = None,
    after: Callable[[], Any] | None = None,
    together: int = 1,
) -> Any:
    """A callback that times each step and recovers its loss and accuracy.

    Args:
        keras: the module that trains.
        stages: the report to the parent.
        stage: the run's own; the first step and the others are told as its steps.
        before: called before the first step.
        after: called after it.
        together: steps of one execution: Keras tells of all of them at once.

    Returns:
        ``seconds`` (of a step, one per execution, until its results are known; the first execution's are not divided, for tracing
        and compiling are most of them), ``means`` (one per execution) and ``told``: what ``after`` returned.
    """

    class Recorder(keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seconds: list[float] = []
            self.means = proof.Means()
            self.told: Any = None
            self._began = 0.0

        def on_train_begin(self, logs: Any = None) -> None:
            stages.begin(stage + ": first step")
            if before is not None:
                before()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self._began = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.means.add(logs)  # converts what may still be under way
            seconds = time.perf_counter() - self._began
            self.seconds.append(seconds / together if self.seconds else seconds)
            if len(self.seconds) == 1:
                self.told = after() if after is not None else None
                stages.begin(stage + ": steps")

    return Recorder()
