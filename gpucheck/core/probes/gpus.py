"""Each GPU as NVML reports it. A query that a GPU does not support is not a fault: the field is None."""

from gpucheck.core.child.messages.drivers import Gpu, GpuProcess, GpuRead, NvLink, NvmlSystem
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes.driver import query_nvml

__all__ = ("Gpu", "GpuProcess", "Gpus", "NvLink", "read")


class Gpus(Fact, frozen=True, kw_only=True):
    """Every GPU that NVML counts; empty if NVML counts none."""

    gpus: tuple[Gpu, ...]


@probe(level=Level.NODE)
def read(host: Host) -> Gpus:
    """Read the same NVML child as the driver probe.

    Raises:
        RuntimeError: the child died before NVML counted the GPUs.
    """
    query = query_nvml(host)
    if query.answer.status in ("crashed", "hung") and query.child.message(NvmlSystem) is None:
        raise RuntimeError(query.answer.problem)
    gpus = [answer.gpu for answer in query.child.messages(GpuRead).values()]
    if query.stopped_in is not None and query.stopped_in.name == GpuRead.stage:
        gpus.append(Gpu(index=len(gpus), problem=query.answer.problem))
    return Gpus(gpus=tuple(gpus))
