"""The child that trains the smoke job with Keras on JAX or PyTorch; TensorFlow is not imported.

The differences between the two frameworks are in ``jax`` and ``torch``, which have the same functions.
"""

from __future__ import annotations

import faulthandler
import importlib
import time
from typing import Any

from gpucheck.core.child import inspection, plan
from gpucheck.core.child.backend.keras_job import KerasJob
from gpucheck.core.child.messages.frameworks import BackendImport, BackendImported, BackendTask, DevicesListed
from gpucheck.core.child.messages.training import FreeMemory, Job, Planned
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.child.smoke import fit
from gpucheck.core.training.strategies import Wanted, data_parallel, load_all, one_device


def run(reporter: Reporter, task: BackendTask) -> None:
    """Inspect, then train."""
    faulthandler.enable()
    framework = importlib.import_module("gpucheck.core.child.backend." + task.backend)
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
        wanted = _single(usable, full)
        jobs += [Job("one_device", *job._replace(compiled=framework.COMPILED), None, task.backend) for job in wanted]
    if not task.strategies or "data_parallel" in task.strategies:
        several = data_parallel.jobs(usable, full, False)
        reason = framework.no_data_parallel(keras)
        if reason is None:
            jobs += [Job("data_parallel", job.devices, "float32", framework.COMPILED, None, task.backend) for job in several]
        elif task.strategies or len(several[-1].devices) > 1:
            jobs.append(Job("data_parallel", several[-1].devices, skip=reason, backend=task.backend))
    return jobs


def _single(usable: list[str], full: bool) -> list[Wanted]:
    """Each accelerator on its own, and the first CPU if there is none or with --full."""
    accelerators = [device for device in usable if not device.startswith("CPU")]
    cpus = usable[len(accelerators) :][:1] if full or not accelerators else []
    precisions = one_device.PRECISIONS[: None if full else 1]
    return [Wanted((device,), precision) for precision in precisions for device in [*accelerators, *cpus]]


def not_trained(framework: Any, usable: list[str], task: BackendTask) -> list[Job]:
    """Requested jobs that this framework does not support."""
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
