"""The first witness: the driver's management library (NVML), loaded and initialised in a child."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Driver(Fact, frozen=True, kw_only=True):
    """What NVML says about the driver.

    ``status``: "ok" (initialised), "library-not-found", "library-unusable" (found, but dlopen refused it), "failed" (an NVML
    error code), "crashed" (the child died) or "hung" (it was stopped at the limit).
    """

    status: str
    result: int | None = None  # nvmlReturn_t of the call that failed
    result_name: str | None = None  # "NVML_ERROR_DRIVER_NOT_LOADED"
    problem: str | None = None  # in words: the loader's, NVML's, or how the child ended and in which stage
    library: str | None = None  # path of the libnvidia-ml.so.1 that was loaded
    version: str | None = None  # driver version, "580.159.04"
    nvml_version: str | None = None
    cuda_version: str | None = None  # newest CUDA the driver supports: "13.0"
    gpu_count: int | None = None
    nvidia_smi: str | None = None  # nvidia-smi's own words, asked only where NVML failed; its exit code judges nothing


@probe(level=Level.QUICK)
def read(host: Host) -> Driver:
    """Run the NVML child, and nvidia-smi where NVML failed."""
    raise NotImplementedError
