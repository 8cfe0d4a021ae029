"""The child that trains the smoke job with Keras on JAX or PyTorch; TensorFlow is not imported.

The differences between the two frameworks are in ``jax`` and ``torch``, which have the same functions.
"""

from __future__ import annotations

import faulthandler
import functools
import importlib
import random
import time
from contextlib import AbstractContextManager
from typing import Any

from gpucheck.core.child.messages.frameworks import BackendImport, BackendImported, BackendTask, DevicesListed
from gpucheck.core.child.messages.training import FreeMemory, Job, Planned, TrainingRun
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training import inspection, plan
from gpucheck.core.training.smoke import fit, network, proof
from gpucheck.core.training.strategies import PlannedJob, data_parallel, load_all, one_device


def run(reporter: Reporter, task: BackendTask) -> None:
    """Inspect, then train."""
    faulthandler.enable()
    framework = importlib.import_module("gpucheck.core.training.backend." + task.backend)
    framework.prepare(task.logical_devices or plan.replicas(task.level >= plan.FULL))
    devices = _inspect(reporter, framework, task)
    keras, backend = inspection.import_keras(reporter)
    if devices is None or not task.smoke or backend != task.backend:
        return
    reporter.begin(Planned)
    received = reporter.receive(FreeMemory, plan.RECEIVE_SECONDS)
    usable, unusable = plan.usable(devices, {} if received is None else received.free_bytes)
    jobs = plan_of(framework, keras, usable, task)
    jobs += [Job("one_device", (device,), skip=reason, backend=task.backend) for device, reason in unusable.items()]
    jobs += not_trained(framework, usable, task)
    reporter.end(Planned(tuple(jobs)))
    for job in jobs:
        if not job.skip:
            fit.train(reporter, keras, job, KerasJob(framework, keras, job))


def _inspect(reporter: Reporter, framework: Any, task: BackendTask) -> list[str] | None:
    """Import the framework and list its devices; return their names, or None if it can't be imported."""
    reporter.begin(BackendImported)
    started = time.perf_counter()
    try:
        with inspection.without_gc():
            built: dict[str, Any] = framework.load()
    except BaseException as error:
        reporter.end(BackendImported(inspection.failed(BackendImport, error, name=task.backend, source=task.source)))
        return None
    seconds = round(time.perf_counter() - started, 3)
    imported = BackendImport(name=task.backend, source=task.source, imported=True, import_seconds=seconds, **built)
    reporter.end(BackendImported(imported))
    reporter.begin(DevicesListed)
    listed: DevicesListed = framework.devices()
    reporter.end(listed)
    return [device.name for device in listed.devices]


def plan_of(framework: Any, keras: Any, usable: list[str], task: BackendTask) -> list[Job]:
    """Plan the jobs, like TensorFlow's, but compile only in the framework's default way."""
    full = task.level >= plan.FULL
    jobs: list[Job] = []
    if not task.strategies or "one_device" in task.strategies:
        planned = _single(usable, full)
        jobs += [Job("one_device", *job._replace(compiled=framework.COMPILED), None, task.backend) for job in planned]
    if not task.strategies or "data_parallel" in task.strategies:
        several = data_parallel.jobs(usable, full, False)
        reason = framework.no_data_parallel(keras)
        if reason is None:
            jobs += [Job("data_parallel", job.devices, "float32", framework.COMPILED, None, task.backend) for job in several]
        elif task.strategies or len(several[-1].devices) > 1:
            jobs.append(Job("data_parallel", several[-1].devices, skip=reason, backend=task.backend))
    return jobs


def _single(usable: list[str], full: bool) -> list[PlannedJob]:
    """Plan a job on each accelerator, and on the first CPU if there is no accelerator or with --full."""
    accelerators = [device for device in usable if not device.startswith("CPU")]
    cpus = usable[len(accelerators) :][:1] if full or not accelerators else []
    precisions = one_device.PRECISIONS[: None if full else 1]
    return [PlannedJob((device,), precision) for precision in precisions for device in [*accelerators, *cpus]]


def not_trained(framework: Any, usable: list[str], task: BackendTask) -> list[Job]:
    """Return the requested jobs that this framework does not support."""
    supported = [name for name, strategy in load_all().items() if task.backend in strategy.backends]
    jobs = []
    for name in task.strategies:
        if name not in supported:
            reason = (
                f"{name} is a strategy of tf.distribute; Keras on {framework.TITLE} is trained with {' and '.join(supported)}"
            )
            jobs.append(Job(name, (), skip=reason, backend=task.backend))
    if task.logical_devices and not all(device.startswith("CPU") for device in usable):
        reason = f"{framework.TITLE} can't split an accelerator into logical devices"
        jobs.append(Job("one_device", (), skip=reason, backend=task.backend))
    return jobs


class KerasJob:
    """One job with Keras on JAX or PyTorch (see ``fit.FrameworkJob``): TensorFlow's network and checks, and plain arrays."""

    def __init__(self, framework: Any, keras: Any, job: Job) -> None:
        """Prepare the job without building anything yet.

        Args:
            framework: the module ``jax`` or ``torch`` of this package.
            keras: Keras 3, on that backend.
            job: the planned job.
        """
        self._framework, self._keras, self._job = framework, keras, job
        self._names = list(job.devices)
        self._distribution: Any = None

    def fresh(self) -> None:
        """Forget earlier models.

        Keras draws every layer's seed from Python's generator. Its own ``set_random_seed`` would import an installed TensorFlow.
        """
        self._keras.utils.clear_session()
        self._keras.mixed_precision.set_global_policy(self._job.precision)
        random.seed(network.SEED)
        self._framework.seed(network.SEED)

    def cpu_first_loss(self) -> float | None:
        """Return the loss of the first step, computed on the CPU."""
        if not self._framework.comparable():
            return None
        return _cpu_first_loss(self._framework, self._keras, self._job.precision, network.batch_size(self._names[0]))

    def open(self) -> tuple[int, int]:
        """Return the number of devices; Keras uses them in the scope."""
        self._framework.reset_peak(self._names)
        return len(self._names), 1

    def scope(self) -> AbstractContextManager[Any]:
        """Return the context in which Keras builds and trains the model on the devices."""
        scope: AbstractContextManager[Any]
        if self._job.strategy == "data_parallel":
            self._distribution = self._distribution or self._framework.data_parallel(self._keras, self._names)
            scope = self._distribution.scope()
        else:
            scope = self._framework.scope(self._names)
        return scope

    def around_fit(self) -> AbstractContextManager[Any]:
        """Return the scope of the model."""
        return self.scope()

    def data(self, global_batch: int) -> dict[str, Any]:
        """Return arrays with the samples of all steps."""
        images, labels = network.steps(global_batch)
        return {"x": images, "y": labels, "batch_size": global_batch}

    def before_first_step(self) -> None:
        """Do nothing: the placement is read afterwards."""

    def after_first_step(self) -> None:
        """Do nothing."""

    def note(self, result: TrainingRun, model: Any) -> None:
        """Record placement and numerics in the result: the device that computes the weights also holds them."""
        framework = self._framework
        proof.note_numerics(result, model, framework.tf32(), self._names)
        variables = [*model.trainable_variables, *model.optimizer.variables]
        proof.note_placement(
            result, {(variable.name, place) for variable in variables for place in framework.places(variable)}, self._names
        )
        result.peak_memory_bytes = framework.peak(self._names)
        result.replicas_equal = framework.replicas_equal(model.trainable_weights)


@functools.lru_cache(maxsize=16)  # the CPU's loss is the same for every device
def _cpu_first_loss(framework: Any, keras: Any, precision: str, batch: int) -> float | None:
    """Return the loss of a job's first step in the current precision, computed on the CPU."""
    with framework.scope(["CPU:0"]):
        model = network.model(keras, compiled=False)
        images, labels = network.steps(batch)
        predictions = model(images[:batch], training=True)
        loss = keras.ops.mean(keras.losses.sparse_categorical_crossentropy(labels[:batch], predictions))
    return proof.finite_or_none(float(loss))
