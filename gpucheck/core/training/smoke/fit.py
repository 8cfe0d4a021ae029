"""One job with ``Model.fit``, as a user trains, with every step timed, on any backend of Keras."""

from __future__ import annotations

import gc
import time
from contextlib import AbstractContextManager
from typing import Any, Protocol

from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.messages.training import Job, Trained, TrainingRun
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training.smoke import network, proof


class FrameworkJob(Protocol):
    """A framework's part of one job: ``smoke/tensorflow.py``, and ``backend/__init__.py`` for JAX and PyTorch."""

    def fresh(self) -> None:
        """Forget earlier models; the next one is built in the job's precision, from the same seed."""

    def cpu_first_loss(self) -> float | None:
        """Return the loss of the first step, computed on the CPU: same seed, data, weights, dropout and precision.

        None: it was not finite, or the CPU draws other numbers.
        """

    def open(self) -> tuple[int, int]:
        """Open the devices; return the number of replicas, and the steps per execution of ``fit``."""

    def scope(self) -> AbstractContextManager[Any]:
        """Return the context in which the model is built."""

    def around_fit(self) -> AbstractContextManager[Any]:
        """Return the context in which ``fit`` runs."""

    def data(self, global_batch: int) -> dict[str, Any]:
        """Return the data arguments of ``fit``."""

    def before_first_step(self) -> None:
        """React when ``fit`` begins to train."""

    def after_first_step(self) -> None:
        """React when the first step's results are available."""

    def note(self, result: TrainingRun, model: Any) -> None:
        """Record placement and numerics in the result."""


def train(reporter: Reporter, keras: Any, job: Job, framework: FrameworkJob) -> TrainingRun:
    """Train one planned job; report and return its result."""
    result = untrained_result(job)
    reporter.begin(Trained, job.id)
    reporter.begin(Trained, job.id, "build")
    steps = None
    try:
        framework.fresh()
        if job.strategy == "one_device" and not job.devices[0].startswith("CPU"):
            result.cpu_first_loss = framework.cpu_first_loss()
            framework.fresh()
        result.replicas, result.steps_per_execution = framework.open()
        note_sizes(result, network.batch_size(job.devices[0]), network.STEPS)
        with framework.scope():
            model = network.model(keras, job.compiled, steps_per_execution=result.steps_per_execution)
        before = [weight.numpy() for weight in model.trainable_weights]
        steps = _recorder(keras, reporter, job.id, framework, result.steps_per_execution)
        result.stage = "first step"
        data = framework.data(result.global_batch_size or 0)
        with framework.around_fit():
            # Keras warns about shuffle=True on a dataset: with PYTHONWARNINGS=error that would be an error.
            model.fit(**data, verbose=0, shuffle=False, callbacks=[steps])
        result.stage = "verify"
        reporter.begin(Trained, job.id, "verify")
        proof.note_steps(result, steps.seconds, steps.means)
        proof.note_weights(result, model.trainable_weights, before)
        framework.note(result, model)
        proof.judge(result)
    except Exception as error:
        if steps is not None and steps.seconds:
            result.stage = "steps"
        result.reason = proof.first_sentence(error)
    finally:
        keras.mixed_precision.set_global_policy("float32")
        gc.collect()
    reporter.end(Trained(result), job.id)
    return result


def _recorder(keras: Any, reporter: Reporter, job: str, framework: FrameworkJob, together: int) -> Any:
    """Return a callback that times each step and recovers its loss and accuracy.

    Args:
        keras: the module that trains.
        reporter: the report to the parent.
        job: id of the job.
        framework: called before and after the first step.
        together: steps of one execution: Keras reports them together.

    Returns:
        ``seconds`` (of a step, one per execution, until its results are available; the first execution's are not divided, because
        tracing and compiling dominate) and ``means`` (one per execution).
    """

    class Recorder(keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.seconds: list[float] = []
            self.means = proof.StepMeans()
            self._began = 0.0

        def on_train_begin(self, logs: Any = None) -> None:
            reporter.begin(Trained, job, "first step")
            framework.before_first_step()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self._began = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.means.add(logs)  # waits for pending results
            seconds = time.perf_counter() - self._began
            self.seconds.append(seconds / together if self.seconds else seconds)
            if len(self.seconds) == 1:
                framework.after_first_step()
                reporter.begin(Trained, job, "steps")

    return Recorder()


def untrained_result(job: Job, loop: str = "fit") -> TrainingRun:
    """Return the result of a planned job before training."""
    return replace(job.planned_run, status="failed", stage="build", loop=loop)


def note_sizes(result: TrainingRun, per_replica: int, steps: int) -> None:
    """Record batch sizes and steps in a result."""
    result.per_replica_batch_size = per_replica
    result.global_batch_size = per_replica * result.replicas
    result.drop_remainder = True
    result.steps = steps
