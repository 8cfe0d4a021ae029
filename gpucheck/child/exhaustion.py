"""The child that runs out of memory on purpose, inside a small limit of its own: whether a program can catch it and go on.

Stages: import, keras, build, exhaust, recover. On a GPU the limit is that of a logical device, on a CPU that of this process'
address space. What is asked for is more than the limit, and is never written to: no memory of the machine is used up by it.
"""

from __future__ import annotations

import gc
import json
import os
import re
import time
from typing import Any

from gpucheck.child import inspection
from gpucheck.child.runtime import Stages
from gpucheck.child.smoke import fit, network
from gpucheck.child.smoke.proof import first_sentence

GPU_LIMIT_BYTES = 1 << 30  # twice what the smoke job takes (see plan.NEEDED_BYTES)
CPU_ROOM_BYTES = 1 << 30  # beside what is mapped already
STEPS = 3
PLACE = re.compile(r"\{\{.*?\}\} ?")  # the node of a graph that TensorFlow names before it says what happened


def run(stages: Stages, args: list[str]) -> None:
    """Train, ask for too much, and train again.

    Args:
        stages: the report to the parent: ``build`` (``limit_bytes``, or ``problem``: why none can be set, ``loss``), ``exhaust``
            (``asked_bytes``, ``error``: the type of what was raised, None: nothing; ``words``, ``seconds``) and ``recover``
            (``loss``).
        args: one JSON object: ``gpu``, the number of the GPU, or None for the CPU.
    """
    gpu = json.loads(args[0])["gpu"]
    # Another allocator of a GPU knows no limit, and oneDNN's of a CPU waits ten seconds for memory before it gives up.
    os.environ.pop("TF_GPU_ALLOCATOR", None)
    if gpu is None:
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    tf = inspection.import_tensorflow(stages)
    keras = inspection.import_keras(stages, tf)[0] if tf is not None else None
    if keras is None:
        return
    stages.begin("build")
    device = _gpu(tf, gpu) if gpu is not None else "CPU:0"
    batch = network.batch_size(device)
    _, loss = fit.shortly(tf, keras, device, batch, STEPS)
    limit, problem = (GPU_LIMIT_BYTES, None) if gpu is not None else _address_space()
    stages.end("build", {"limit_bytes": limit, "problem": problem, "loss": round(loss, 6)})
    if limit is None:
        return
    stages.begin("exhaust")
    stages.end("exhaust", _exhaust(tf, device, 2 * limit))
    stages.begin("recover")
    keras.backend.clear_session()
    gc.collect()
    _, loss = fit.shortly(tf, keras, device, batch, STEPS)
    stages.end("recover", {"loss": round(loss, 6)})


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


def _exhaust(tf: Any, device: str, size: int) -> dict[str, Any]:
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
    return {"asked_bytes": size, "error": error, "words": words, "seconds": round(time.perf_counter() - began, 3)}
