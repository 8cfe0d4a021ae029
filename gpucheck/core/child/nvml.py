"""Query NVML, the driver's management library, about the driver and every GPU.

The library is opened before pynvml is imported, to save that import on a machine without NVML.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from gpucheck.core.child.loader import load
from gpucheck.core.child.messages.drivers import DriverStarted, GpuRead, LibraryLoaded, NvmlShutDown, NvmlSystem, NvmlTask
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.nvml_gpu import LIBRARIES, Queries, failure_of, read_gpu
from gpucheck.core.child.runtime import Reporter


def run(reporter: Reporter, task: NvmlTask) -> None:
    """Report the driver and every GPU."""
    reporter.begin(LibraryLoaded)
    library, loaded = load(LIBRARIES, "nvmlInit_v2")
    reporter.end(loaded)
    if library is None:
        return
    sys.path.append(task.library_folder)
    import pynvml  # between stages, because a damaged pynvml is not a fault of the driver

    reporter.begin(DriverStarted)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        reporter.end(DriverStarted(failure_of(pynvml, error)))
        return
    reporter.end(DriverStarted())
    reporter.begin(NvmlSystem)
    system = _system(pynvml)
    reporter.end(system)
    for index in range(system.gpu_count or 0):
        reporter.begin(GpuRead, str(index))
        reporter.end(GpuRead(read_gpu(pynvml, index)), str(index))
    reporter.begin(NvmlShutDown)
    with contextlib.suppress(pynvml.NVMLError):  # everything has been read
        pynvml.nvmlShutdown()
    reporter.end(NvmlShutDown())


def _system(pynvml: Any) -> NvmlSystem:
    machine = Queries(pynvml)
    system = NvmlSystem(
        version=machine.ask("nvmlSystemGetDriverVersion"),
        nvml_version=machine.ask("nvmlSystemGetNVMLVersion"),
        cuda_version=machine.ask("nvmlSystemGetCudaDriverVersion_v2|nvmlSystemGetCudaDriverVersion"),
    )
    try:
        return replace(system, gpu_count=int(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError as error:
        return replace(system, failure=failure_of(pynvml, error))
