"""The child that samples every GPU through NVML, a few times a second, while another child measures."""

from __future__ import annotations

import sys
import time
from typing import Any

from gpucheck.core.child.loader import load
from gpucheck.core.child.messages.drivers import GpuSample, Sampled, SamplerStarted, SamplerTask, StopSampling
from gpucheck.core.child.nvml_gpu import LIBRARIES, SAMPLED, GpuLost, Queries, failure_of
from gpucheck.core.child.runtime import Reporter


def run(reporter: Reporter, task: SamplerTask) -> None:
    """Sample until the parent sends ``StopSampling`` or ends."""
    reporter.begin(SamplerStarted)
    library, loaded = load(LIBRARIES, "nvmlInit_v2")
    if library is None:
        reporter.end(SamplerStarted(loaded.problem))
        return
    sys.path.append(task.library_folder)
    import pynvml

    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError as error:
        reporter.end(SamplerStarted(failure_of(pynvml, error).problem))
        return
    gpus = [Queries(pynvml, handle) for handle in handles]
    known = [_identity(gpu) for gpu in gpus]
    reporter.end(SamplerStarted(None, tuple(uuid for uuid, _ in known), tuple(total for _, total in known)))
    number = 0
    while reporter.receive(StopSampling, task.interval_seconds) is None:
        reporter.end(Sampled(time.monotonic(), tuple(_sample(gpu) for gpu in gpus)), str(number))
        number += 1


def _identity(gpu: Queries) -> tuple[str | None, int | None]:
    """Read a GPU's UUID and its memory in bytes."""
    try:
        total = gpu.ask("nvmlDeviceGetMemoryInfo", convert=lambda memory: memory.total)
        return gpu.ask("nvmlDeviceGetUUID"), total
    except GpuLost:
        return None, None


def _sample(gpu: Queries) -> GpuSample:
    """Read a GPU's current utilization, power, clock and temperature."""
    fields: dict[str, Any] = {}
    try:
        for read in SAMPLED:
            fields.update(read(gpu))
    except GpuLost:  # the measurement will show it
        return GpuSample(lost=True)
    return GpuSample(**fields)
