"""The second witness: cuInit, device count and driver version straight from libcuda.so.1, in a child."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class CudaDevice(Fact, frozen=True, kw_only=True):
    """One device in CUDA's order, after CUDA_VISIBLE_DEVICES."""

    ordinal: int
    name: str | None = None
    pci_address: str | None = None  # "0000:00:06.0", as in gpus
    compute_capability: tuple[int, int] | None = None
    memory_total_bytes: int | None = None
    multiprocessors: int | None = None


class Cuda(Fact, frozen=True, kw_only=True):
    """What libcuda says. ``status`` as in ``Driver``."""

    status: str
    result: int | None = None  # CUresult of the call that failed; 100: no device
    result_name: str | None = None  # "CUDA_ERROR_NO_DEVICE"
    problem: str | None = None
    library: str | None = None  # path of the libcuda.so.1 that was loaded
    driver_version: str | None = None  # CUDA version the library implements: "13.0"
    device_count: int | None = None
    devices: tuple[CudaDevice, ...] = ()


@probe(level=Level.QUICK)
def read(host: Host) -> Cuda:
    """Run the CUDA child: it calls cuInit and counts, and creates no context."""
    raise NotImplementedError
