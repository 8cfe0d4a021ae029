"""The child that imports TensorFlow: it reports the build and devices, trains the planned jobs, and runs the experiments."""

from __future__ import annotations

import os
from typing import Any

from gpucheck.core.child.messages.frameworks import XLA_VARIABLES, FrameworkTask, TpuConnected
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.messages.training import FreeMemory, Job, Planned, TrainingRun, XlaChecked
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training import experiments, inspection, plan
from gpucheck.core.training.smoke import checksums, fit, parallel_devices
from gpucheck.core.training.smoke.proof import first_sentence
from gpucheck.core.training.smoke.tensorflow import TensorFlowJob

LOGICAL_CPUS = 3  # of a CPU that repeat computations: a majority needs three
SHARE_BYTES = 600 << 20  # of each logical GPU's share, reserved for CUDA's context and libraries


def run(reporter: Reporter, task: FrameworkTask) -> None:
    """Inspect, then train."""
    other_backend = inspection.report_backend(reporter)
    tf = inspection.import_tensorflow(reporter)
    if tf is None:
        return
    if task.log_device_placement:
        tf.debugging.set_log_device_placement(True)
    devices = inspection.list_devices(reporter, tf)
    inspection.memory_growth(reporter, tf)
    inspection.mapped_libraries(reporter)
    if other_backend:
        return  # the child that imports JAX or PyTorch handles Keras, training and a TPU
    keras, backend = inspection.import_keras(reporter, tf)
    tpus: list[str] = []
    if task.tpu:
        _configure(tf, devices, task.logical_devices, task.logical_devices or 1, {})  # not allowed after a connection attempt
        tpus = connect_tpu(reporter, tf)
        if not tpus:
            return  # after a failed attempt this process may not train reliably: the parent starts another child
    if task.smoke:
        _train(reporter, task, tf, keras, backend, devices, tpus)
    elif any(os.environ.get(name) for name in XLA_VARIABLES):
        tf.config.set_visible_devices([], "GPU")  # flags can be tested without using GPU memory
        _check_xla(reporter, tf, "CPU:0", {})  # XLA aborts the process if it does not support a flag


def _train(
    reporter: Reporter, task: FrameworkTask, tf: Any, keras: Any, backend: str | None, devices: list[str], tpus: list[str]
) -> None:
    """Plan the jobs, and train them."""
    full, logical_devices = task.level >= plan.FULL, task.logical_devices
    reporter.begin(Planned)
    received = None if tpus else reporter.receive(FreeMemory, plan.RECEIVE_SECONDS)
    free = {} if received is None else received.free_bytes
    usable, unusable = plan.usable(devices, free)
    if not tpus:
        _configure(tf, usable, logical_devices, logical_devices or plan.replicas(full), free)
    names = _names(tf, usable, logical_devices)
    if not logical_devices:
        inspection.growth_refused(reporter, tf, usable)
    on_cpu = not tpus and all(device.startswith("CPU") for device in devices)
    if on_cpu and free and not task.allow_cpu:  # training on the CPU would verify nothing, and delay the report
        reporter.end(Planned((), skipped="TensorFlow lists no GPU, although CUDA detects one"))
        return
    jobs = plan.plan([*names, *tpus], task.level, task.strategies, bool(logical_devices))
    if backend != "tensorflow":
        reason = f"Keras runs on {backend or 'no backend'} here; TensorFlow's strategies cannot train it"
        jobs = [job if job.skip else replace(job, skip=reason) for job in jobs]
    jobs += [Job("one_device", (device,), skip=reason) for device, reason in unusable.items()]
    tried = full and not task.only
    reporter.end(Planned(tuple(jobs), len(experiments.names()) if tried else 0))
    chosen = [job for job in jobs if not job.skip and (not task.only or job.id in task.only)]
    results: list[TrainingRun] = []
    for group in [[job] for job in chosen] if task.only else plan.groups(chosen):
        results += _train_group(reporter, tf, keras, group, names, task.cross_device)
    if tried:
        experiments.run_all(experiments.Setting(tf, keras, names, results), reporter)
    if not task.only:
        trained = dict.fromkeys(device for run in results if run.status == "passed" for device in run.devices)
        _repeat(reporter, task, tf, {device: names[device] for device in trained if device in names}, free)
    alone = dict.fromkeys(job.devices[0] for job in chosen if job.strategy == "one_device")
    cpus = [device for device in alone if device.startswith("CPU")]
    for device in alone:
        if device not in cpus[1:]:  # logical devices of one processor: one check covers them
            _check_xla(reporter, tf, device, names)  # last: XLA without its tools may abort the process


def _train_group(
    reporter: Reporter, tf: Any, keras: Any, group: list[Job], names: dict[str, str], cross_device: str | None
) -> list[TrainingRun]:
    """Train a group of jobs: several at the same time if TensorFlow allows it, else one after the other."""
    if len(group) > 1:
        try:
            return parallel_devices.train(reporter, tf, keras, group, names)
        except parallel_devices.CannotShareStep:
            pass  # one after the other is slower, and verifies the same
    return [fit.train(reporter, keras, job, TensorFlowJob(tf, keras, job, names, cross_device)) for job in group]


def _repeat(reporter: Reporter, task: FrameworkTask, tf: Any, trained: dict[str, str], free: dict[str, int]) -> None:
    """Repeat the same computations on the devices that trained; ``trained`` are logical names by device name."""
    shared = [device for device in trained if device.startswith("CPU")][LOGICAL_CPUS:]  # the same processor again
    trained = {device: name for device, name in trained.items() if device not in shared}
    if not trained:
        return
    seconds = task.soak_seconds or 0.0
    every = task.level >= plan.FULL or seconds > 0
    checksums.run(reporter, checksums.Setting(tf, checksums.training_step(tf), every, seconds, free), trained)


def _configure(tf: Any, usable: list[str], logical_devices: int, cpu: int, free: dict[str, int]) -> None:
    """Make only the usable devices visible, and split them, before TensorFlow initializes any.

    Without an accelerator, the CPU is split into ``cpu`` logical devices, to exercise replication; ``logical_devices``, if more
    than one, splits each GPU.
    """
    by_name = {inspection.name_of(device): device for device in tf.config.list_physical_devices()}
    gpus = [name for name in usable if name.startswith("GPU")]
    tf.config.set_visible_devices([by_name[name] for name in gpus], "GPU")
    cpus = tf.config.list_physical_devices("CPU")
    logical_device = tf.config.LogicalDeviceConfiguration
    if cpus and not gpus:
        tf.config.set_logical_device_configuration(cpus[0], [logical_device()] * cpu)
    for name in gpus if logical_devices > 1 else []:
        share = _share(free.get(name.split(":")[1]), logical_devices)
        tf.config.experimental.set_memory_growth(by_name[name], False)  # exclusive with a memory limit
        tf.config.set_logical_device_configuration(by_name[name], [logical_device(memory_limit=share)] * logical_devices)


def _names(tf: Any, usable: list[str], logical_devices: int) -> dict[str, str]:
    """Initialize the devices, and map device names to TensorFlow's logical names: it renumbers the visible GPUs."""
    gpus = [name for name in usable if name.startswith("GPU")]
    logical = [inspection.name_of(device) for device in tf.config.list_logical_devices()]
    if logical_devices > 1 and gpus:
        return {name: name for name in logical if not name.startswith("TPU")}
    names = dict(zip(gpus, [name for name in logical if name.startswith("GPU")]))
    names.update((name, name) for name in logical if name.startswith("CPU"))
    return names


def _share(free: int | None, count: int) -> int:
    """Return the MiB of each logical device of a GPU: its share of the free memory, minus CUDA's own; 1 GiB if unknown."""
    if free is None:
        return 1024
    return max(256, (free // count - SHARE_BYTES) >> 20)


def _check_xla(reporter: Reporter, tf: Any, device: str, names: dict[str, str]) -> None:
    """Compute one tiny XLA-compiled gradient on a device.

    Separate from training: XLA needs tools (ptxas, libdevice) that other kernels don't, and may abort without them.
    """
    reporter.begin(XlaChecked, device)

    def gradient(inputs: Any, weights: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(tf.tanh(inputs @ weights) ** 2)
        return tape.gradient(loss, weights)

    try:
        with tf.device("/" + names.get(device, device)):
            value = tf.function(gradient, jit_compile=True)(tf.ones((8, 16)), tf.fill((16, 4), 0.01))
        finite = bool(tf.reduce_all(tf.math.is_finite(value)))
        result = XlaChecked(finite, None if finite else "its result is not finite")
    except Exception as error:
        result = XlaChecked(False, first_sentence(error))
    reporter.end(result, device)


def connect_tpu(reporter: Reporter, tf: Any) -> list[str]:
    """Connect to the TPU; return its devices, or an empty list if it failed. This can block for minutes: the parent limits it.

    It runs in a separate thread, because connecting makes the TPU's host the default device of the connecting thread.
    """
    import threading

    from gpucheck.core.training.strategies import tpu

    answer = TpuConnected(False, error="TensorFlow connected, but lists no TPU")

    def connect() -> None:
        nonlocal answer
        try:
            if count := tpu.connect(tf):
                answer = TpuConnected(True, count)
        except Exception as error:
            answer = TpuConnected(False, error=f"{type(error).__name__}: {error}"[:1000])

    reporter.begin(TpuConnected)
    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    reporter.end(answer)
    return [f"TPU:{index}" for index in range(answer.devices or 0)]
