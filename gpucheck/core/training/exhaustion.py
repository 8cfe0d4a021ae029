"""The child that runs out of memory on purpose, to test whether a program can catch the error and continue.

It sets a small limit: the memory of a logical device on a GPU, the process' address space on a CPU. It requests more than the
limit and never writes to it, so the machine's memory is not used up.
"""

from __future__ import annotations

import gc
import os
import re
import time
from typing import Any

from gpucheck.core.child.messages.training import Exhausted, ExhaustionTask, LimitSet, Recovered
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training import inspection
from gpucheck.core.training.smoke import network
from gpucheck.core.training.smoke.proof import first_sentence
from gpucheck.core.training.smoke.tensorflow import train_briefly

GPU_LIMIT_BYTES = 1 << 30  # twice what the smoke job needs (see JOB_BYTES)
CPU_ROOM_BYTES = 1 << 30  # in addition to what is already mapped
STEPS = 3
PLACE = re.compile(r"\{\{.*?\}\} ?")  # the graph node that TensorFlow prints before the message


def run(reporter: Reporter, task: ExhaustionTask) -> None:
    """Train, request too much memory, and train again."""
    gpu = task.gpu
    # Other GPU allocators ignore the limit, and oneDNN's CPU allocator waits ten seconds for memory before it fails.
    os.environ.pop("TF_GPU_ALLOCATOR", None)
    if gpu is None:
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    tf = inspection.import_tensorflow(reporter)
    keras = inspection.import_keras(reporter, tf)[0] if tf is not None else None
    if keras is None:
        return
    reporter.begin(LimitSet)
    device = _gpu(tf, gpu) if gpu is not None else "CPU:0"
    batch = network.batch_size(device)
    _, loss = train_briefly(tf, keras, device, batch, STEPS)
    limit, problem = (GPU_LIMIT_BYTES, None) if gpu is not None else _address_space()
    reporter.end(LimitSet(round(loss, 6), limit, problem))
    if limit is None:
        return
    reporter.begin(Exhausted)
    reporter.end(_exhaust(tf, device, 2 * limit))
    reporter.begin(Recovered)
    keras.backend.clear_session()
    gc.collect()
    _, loss = train_briefly(tf, keras, device, batch, STEPS)
    reporter.end(Recovered(round(loss, 6)))


def _gpu(tf: Any, number: int) -> str:
    """Make one GPU the only visible one, with a memory limit; return its logical name."""
    gpu = tf.config.list_physical_devices("GPU")[number]
    tf.config.set_visible_devices([gpu], "GPU")
    limit = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_LIMIT_BYTES >> 20)
    tf.config.set_logical_device_configuration(gpu, [limit])
    return "GPU:0"


def _address_space() -> tuple[int | None, str | None]:
    """Limit this process' address space to slightly more than it uses; return the limit in bytes, or why it failed."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = min([mapped + CPU_ROOM_BYTES, *(old for old in (soft, hard) if old != resource.RLIM_INFINITY)])
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ImportError, OSError, ValueError) as error:
        return None, f"this system sets no limit on a process' address space: {error}"
    return limit, None


def _exhaust(tf: Any, device: str, size: int) -> Exhausted:
    """Request a tensor of ``size`` bytes; ``Empty`` does not write to it, so even a successful request uses no memory."""
    began = time.perf_counter()
    error = words = None
    try:
        with tf.device("/" + device):
            tf.raw_ops.Empty(shape=[size // 4], dtype=tf.float32, init=False)
    except tf.errors.ResourceExhaustedError as raised:
        error, words = "ResourceExhaustedError", PLACE.sub("", first_sentence(raised))
    except Exception as raised:
        error, words = type(raised).__name__, PLACE.sub("", first_sentence(raised))
    return Exhausted(size, round(time.perf_counter() - began, 3), error, words)
