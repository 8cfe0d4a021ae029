"""Messages of the children that query NVIDIA's driver, through NVML or libcuda."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import Struct


class LibraryLoaded(Message):
    """Whether the driver's library opened."""

    stage: ClassVar[str] = "load"
    status: str  # "loaded", "library-not-found", "library-unusable"
    library: str | None = None  # path of its file
    problem: str | None = None  # the loader's message


class Failure(Struct, frozen=True):
    """An error of the driver; all None: no error."""

    result: int | None = None  # nvmlReturn_t or CUresult
    result_name: str | None = None  # "NVML_ERROR_DRIVER_NOT_LOADED"
    problem: str | None = None


class Outcome(Struct):
    """The result of a call that may fail."""

    failure: Failure = Failure()


class DriverStarted(Outcome, Message):
    """The result of nvmlInit or cuInit."""

    stage: ClassVar[str] = "init"


class CudaTask(Task):
    """Query libcuda about the devices."""

    child: ClassVar[str] = "cuda"


class CudaVersion(Message):
    """The CUDA version that libcuda implements."""

    stage: ClassVar[str] = "version"
    number: int | None = None  # as NVIDIA numbers it: 13000


class CudaCount(Outcome, Message):
    """How many devices CUDA counts."""

    stage: ClassVar[str] = "count"
    count: int | None = None


class CudaDevice(Struct, frozen=True, kw_only=True):
    """One device in CUDA's order, after CUDA_VISIBLE_DEVICES."""

    ordinal: int
    name: str | None = None
    pci_address: str | None = None  # "0000:00:06.0", as in gpus
    compute_capability: tuple[int, int] | None = None
    memory_total_bytes: int | None = None
    multiprocessors: int | None = None


class CudaDevices(Message):
    """Each device, as CUDA reports it."""

    stage: ClassVar[str] = "devices"
    devices: tuple[CudaDevice, ...]


class CudaPeers(Message):
    """Pairs of ordinals, (0, 3): the first can't access the second's memory; None: not reported by the driver."""

    stage: ClassVar[str] = "peers"
    missing: tuple[tuple[int, int], ...] | None = None


class NvmlTask(Task):
    """Query NVML about the driver and every GPU."""

    child: ClassVar[str] = "nvml"
    library_folder: str  # that holds pynvml


class SamplerTask(Task):
    """Sample NVML until the parent sends ``StopSampling``."""

    child: ClassVar[str] = "sampler"
    report_bytes: ClassVar[int] = 64 << 20  # eight GPUs take 22 MB an hour
    library_folder: str  # that holds pynvml
    interval_seconds: float = 0.2


class NvmlSystem(Outcome, Message):
    """The driver, as NVML reports it."""

    stage: ClassVar[str] = "system"
    version: str | None = None  # "580.159.04"
    nvml_version: str | None = None
    cuda_version: int | None = None  # as NVIDIA numbers it: 13000
    gpu_count: int | None = None


class GpuProcess(Struct, frozen=True, kw_only=True):
    """A process that holds memory on a GPU."""

    pid: int
    memory_bytes: int | None = None
    name: str | None = None  # the program's base name, if this process may see it


class NvLink(Struct, frozen=True, kw_only=True):
    """One NVLink of a GPU."""

    link: int
    active: bool


class Gpu(Struct, frozen=True, kw_only=True):
    """One GPU, in NVML's (PCI bus) order."""

    index: int
    problem: str | None = None  # NVML's message if the GPU could not be queried: "GPU is lost"
    result: int | None = None  # nvmlReturn_t of that failure (15: lost, 16: reset required)
    name: str | None = None
    uuid: str | None = None
    pci_address: str | None = None  # "0000:00:06.0", lower case, four-digit domain
    minor: int | None = None  # /dev/nvidia<minor>
    compute_capability: tuple[int, int] | None = None
    memory_total_bytes: int | None = None
    memory_free_bytes: int | None = None
    memory_used_bytes: int | None = None  # without the driver's own reserve, if NVML reports it separately
    ecc_enabled: bool | None = None
    ecc_uncorrected_volatile: int | None = None  # since the driver was loaded
    ecc_uncorrected_aggregate: int | None = None  # over the board's life
    retired_pages_pending: bool | None = None
    remapped_rows_uncorrectable: int | None = None
    remapping_pending: bool | None = None
    remapping_failed: bool | None = None
    recovery_action: int | None = None  # nvmlDeviceGpuRecoveryAction_t; see compat.xid
    temperature_celsius: int | None = None
    temperature_slowdown_celsius: int | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    power_default_limit_watts: float | None = None
    clock_event_reasons: int | None = None  # bit mask; see compat.nvml
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    utilization_percent: int | None = None
    pcie_generation: int | None = None  # now; drops while the GPU idles
    pcie_generation_max: int | None = None  # the maximum of this GPU in this slot
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    persistence_mode: bool | None = None
    compute_mode: str | None = None  # "default", "exclusive-thread", "prohibited", "exclusive-process"
    mig_enabled: bool | None = None
    mig_devices: int | None = None  # usable MIG devices, if MIG is enabled
    nvlinks: tuple[NvLink, ...] = ()
    fabric_state: str | None = None  # "not-supported", "not-started", "in-progress", "completed"
    fabric_status: int | None = None  # nvmlReturn_t of the fabric registration
    fabric_health_mask: int | None = None  # bits of NVML_GPU_FABRIC_HEALTH_MASK_*; see compat.nvml
    fabric_clique: int | None = None  # the GPUs of a clique can reach each other
    fabric_cluster: str | None = None  # UUID of the NVLink domain, 32 hexadecimal digits
    processes: tuple[GpuProcess, ...] = ()
    processes_visible: bool | None = None  # False in containers that cannot see other processes

    @property
    def ecc_unread(self) -> bool:
        """Whether memory errors are counted, but NVML did not return the count."""
        return bool(self.ecc_enabled) and self.ecc_uncorrected_volatile is None

    @property
    def label(self) -> str:
        """'GPU 3'."""
        return f"GPU {self.index}"

    @property
    def title(self) -> str:
        """'GPU 3 (NVIDIA H200)'."""
        return f"{self.label} ({self.name})" if self.name else self.label


class GpuRead(Message):
    """One GPU, as NVML reports it; the job is its index."""

    stage: ClassVar[str] = "gpu"
    gpu: Gpu


class NvmlShutDown(Message):
    """NVML was shut down, after all queries."""

    stage: ClassVar[str] = "shutdown"


class GpuSample(Struct):
    """A GPU's activity at one time; None: not reported by NVML."""

    utilization_percent: int | None = None
    power_watts: float | None = None
    sm_clock_mhz: int | None = None
    clock_event_reasons: int | None = None  # bit mask; see compat.nvml
    temperature_celsius: int | None = None
    lost: bool = False  # its answers can no longer be trusted


class SamplerStarted(Message):
    """Whether NVML can be sampled."""

    stage: ClassVar[str] = "start"
    problem: str | None = None
    uuids: tuple[str | None, ...] = ()  # of every GPU, by NVML's index
    memory_total_bytes: tuple[int | None, ...] = ()


class Sampled(Message):
    """Every GPU at one time; the job is the sample's number."""

    stage: ClassVar[str] = "sample"
    seconds: float  # on the machine's monotonic clock
    gpus: tuple[GpuSample, ...]  # by NVML's index


class StopSampling(Message):
    """From the parent: stop."""
