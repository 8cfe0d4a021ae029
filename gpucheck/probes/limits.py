"""What this process may use: processors, memory, shared memory, ulimits, and the folders that CUDA and Keras write to."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Limits(Fact, frozen=True, kw_only=True):
    """Limits in force for this process. None: unknown; an unlimited value is None with the matching ``*_unlimited`` True."""

    cpu_count: int | None = None  # logical processors of the machine
    cpu_affinity_count: int | None = None  # those this process may run on
    cpu_quota: float | None = None  # processors granted by the cgroup, such as 1.5; None: no quota, or unknown
    memory_total_bytes: int | None = None
    memory_available_bytes: int | None = None
    memory_limit_bytes: int | None = None  # the cgroup's, if below the machine's memory
    memory_limit_used_bytes: int | None = None
    shared_memory_total_bytes: int | None = None  # /dev/shm
    shared_memory_free_bytes: int | None = None
    address_space_bytes: int | None = None  # ulimit -v; None: unlimited or unknown
    open_files: int | None = None  # ulimit -n
    processes: int | None = None  # ulimit -u; None: unlimited or unknown
    processes_cgroup: int | None = None  # pids.max of the cgroup
    home: str | None = None
    home_writable: bool | None = None
    kernel_cache: str | None = None  # CUDA's cache of compiled kernels: CUDA_CACHE_PATH, else ~/.nv/ComputeCache
    kernel_cache_writable: bool | None = None
    kernel_cache_disabled: bool = False  # CUDA_CACHE_DISABLE=1


@probe(level=Level.QUICK)
def read(host: Host) -> Limits:
    """Read psutil, the cgroup files, the resource limits and who may write where."""
    raise NotImplementedError
