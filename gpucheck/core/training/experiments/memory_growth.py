"""Test whether memory growth works: TensorFlow should allocate a GPU's memory on demand, not all of it at once."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from gpucheck.core.child import cuda
from gpucheck.core.child.loader import load
from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import NotHere, Setting

# Shares of a GPU's memory. Without growth TensorFlow leaves a few percent free (gpu_device.cc, MinSystemMemory). The smoke job
# needs half a GiB, so an allocator with memory growth does not hold a free block of that size.
LITTLE, MUCH = 1 / 4, 1 / 3


def run(setting: Setting) -> ExperimentResult:
    """Query the free memory of every GPU after training."""
    gpus = [device for device in setting.devices() if device.startswith("GPU")]
    if not gpus:
        raise NotHere(f"main memory is not preallocated, and the device is {setting.devices()[0]}")
    if "TF_FORCE_UNIFIED_MEMORY" in os.environ:
        raise NotHere("with TF_FORCE_UNIFIED_MEMORY more than a GPU's memory can be allocated")
    tf = setting.tf
    visible = tf.config.get_visible_devices("GPU")
    if len(tf.config.list_logical_devices("GPU")) != len(visible):
        raise NotHere("the GPUs are split into logical devices, each with its own share of the memory")
    if not all(tf.config.experimental.get_memory_growth(gpu) for gpu in visible):
        raise NotHere("memory growth is not enabled: TensorFlow rejected it")
    driver, loaded = load(cuda.LIBRARIES, "cuInit")
    if driver is None:
        raise NotHere(f"NVIDIA's driver can't be queried: {loaded.problem}")
    return measured(setting, gpus, functools.partial(cuda.memory, driver))


def measured(setting: Setting, gpus: list[str], memory: Callable[[int], tuple[int, int] | None]) -> ExperimentResult:
    """Return the free memory of each GPU, and whether TensorFlow has reserved more than it needs.

    Args:
        setting: the experiment's setting, after training.
        gpus: names of the devices, such as "GPU:0".
        memory: returns the free and total bytes of a GPU, by number; None if the driver does not report them.

    Raises:
        NotHere: the driver does not report the memory.
    """
    figures: dict[str, Any] = {}
    problems = []
    for gpu in gpus:
        state = memory(int(gpu.split(":")[1]))
        if state is None:
            raise NotHere(f"the driver does not report the free memory of {gpu}")
        free, total = state
        name = gpu.lower().replace(":", "_")
        figures[f"{name}_free_bytes"], figures[f"{name}_total_bytes"] = free, total
        problem = judged(gpu, free, total, functools.partial(_allocates, setting.tf, setting.names[gpu]))
        problems += [problem] if problem else []
    return ExperimentResult(tuple(gpus), figures, "; ".join(problems) or None)


def judged(gpu: str, free: int, total: int, allocates: Callable[[int], bool]) -> str | None:
    """Return why growth does not work; None if it works.

    If little memory is free because other processes hold it, TensorFlow can't allocate a large block. If it can, it already held
    the block.

    Args:
        gpu: name of the device.
        free: free memory in bytes, as the driver reports it.
        total: total memory in bytes.
        allocates: returns whether TensorFlow can allocate a block of that size.
    """
    block = int(total * MUCH)
    if free >= total * LITTLE or not allocates(block):
        return None
    return (
        f"memory growth does not work on {gpu}: {free / 2**30:.1f} of {total / 2**30:.1f} GiB are free after a short training,"
        f" and TensorFlow holds a block of {block / 2**30:.1f} GiB"
    )


def _allocates(tf: Any, logical: str, size: int) -> bool:
    """Whether TensorFlow can allocate a block; it is released at once and never written to."""
    try:
        with tf.device("/" + logical):
            tf.raw_ops.Empty(shape=[size // 4], dtype=tf.float32, init=False)
    except tf.errors.ResourceExhaustedError:
        return False
    return True
