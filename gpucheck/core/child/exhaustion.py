"""The child that runs out of memory on purpose, inside a small limit of its own: whether a program can catch it and go on.

On a GPU the limit is that of a logical device, on a CPU that of this process'
address space. What is asked for is more than the limit, and is never written to: no memory of the machine is used up by it.
"""

from __future__ import annotations

import gc
import os
import re
import time
from typing import Any

from gpucheck.core.child import inspection
from gpucheck.core.child.messages.training import Exhausted, ExhaustionTask, LimitSet, Recovered
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.child.smoke import network
from gpucheck.core.child.smoke.proof import first_sentence
from gpucheck.core.child.smoke.tensorflow import train_briefly

TASK = ExhaustionTask

GPU_LIMIT_BYTES = 1 << 30  # twice what the smoke job takes (see plan.NEEDED_BYTES)
CPU_ROOM_BYTES = 1 << 30  # beside what is mapped already
STEPS = 3
PLACE = re.compile(r"\{\{.*?\}\} ?")  # the node of a graph that TensorFlow names before it says what happened


def run(reporter: Reporter, task: ExhaustionTask) -> None:
    """Train, ask for too much, and train again."""
    gpu = task.gpu
    # Another allocator of a GPU knows no limit, and oneDNN's of a CPU waits ten seconds for memory before it gives up.
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
    """Make one GPU the only one, with a limit; its logical name."""
    gpu = tf.config.list_physical_devices("GPU")[number]
    tf.config.set_visible_devices([gpu], "GPU")
    limit = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_LIMIT_BYTES >> 20)
    tf.config.set_logical_device_configuration(gpu, [limit])
    return "GPU:0"


def _address_space() -> tuple[int | None, str | None]:
    """Limit this process' address space to a little more than it has; the limit in bytes, or why there is none."""
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
    """Ask for a tensor of that many bytes; ``Empty`` writes nothing into it, so that one that is given costs nothing either."""
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
