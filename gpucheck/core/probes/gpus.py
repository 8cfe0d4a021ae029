"""Each GPU as NVML describes it. A query that a GPU does not support is no fault: the field is None."""

import msgspec

from gpucheck.core.child.messages.nvml import GpuRead, NvmlSystem
from gpucheck.core.engine.plugin import probe
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.probes.driver import query_nvml


class GpuProcess(Fact, frozen=True, kw_only=True):
    """A process that holds memory on a GPU."""

    pid: int
    memory_bytes: int | None = None
    name: str | None = None  # the program's base name, if this process may see it
    own: bool | None = None  # gpucheck itself or a process it started; None: not asked


class NvLink(Fact, frozen=True, kw_only=True):
    """One NVLink of a GPU."""

    link: int
    active: bool


class Gpu(Fact, frozen=True, kw_only=True):
    """One GPU, in NVML's (PCI bus) order."""

    index: int
    problem: str | None = None  # NVML's words if the GPU could not be queried: "GPU is lost"
    result: int | None = None  # nvmlReturn_t of that failure (15: lost, 16: reset required)
    name: str | None = None
    uuid: str | None = None
    pci_address: str | None = None  # "0000:00:06.0", lower case, four-digit domain
    minor: int | None = None  # /dev/nvidia<minor>
    compute_capability: tuple[int, int] | None = None
    memory_total_bytes: int | None = None
    memory_free_bytes: int | None = None
    memory_used_bytes: int | None = None  # without the driver's own reserve, where NVML tells them apart
    ecc_enabled: bool | None = None
    ecc_uncorrected_volatile: int | None = None  # since the driver was loaded
    ecc_uncorrected_aggregate: int | None = None  # over the board's life
    retired_pages_pending: bool | None = None
    remapped_rows_uncorrectable: int | None = None
    remapping_pending: bool | None = None
    remapping_failed: bool | None = None
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
    pcie_generation_max: int | None = None  # the most this GPU and this slot can do
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    persistence_mode: bool | None = None
    compute_mode: str | None = None  # "default", "exclusive-thread", "prohibited", "exclusive-process"
    mig_enabled: bool | None = None
    mig_devices: int | None = None  # usable MIG devices, if MIG is enabled
    nvlinks: tuple[NvLink, ...] = ()
    fabric_state: str | None = None  # "not-supported", "not-started", "in-progress", "completed"
    fabric_status: int | None = None  # nvmlReturn_t of the fabric registration
    processes: tuple[GpuProcess, ...] = ()
    processes_visible: bool | None = None  # False in containers that cannot see other processes

    @property
    def label(self) -> str:
        """'GPU 3'."""
        return f"GPU {self.index}"

    @property
    def title(self) -> str:
        """'GPU 3 (NVIDIA H200)'."""
        return f"{self.label} ({self.name})" if self.name else self.label


class Gpus(Fact, frozen=True, kw_only=True):
    """Every GPU that NVML counts; empty where NVML counts none."""

    gpus: tuple[Gpu, ...]


@probe(level=Level.NODE)
def read(host: Host) -> Gpus:
    """Read the same NVML child as the driver probe.

    Raises:
        RuntimeError: the child died before NVML counted: whether there are GPUs is unknown.
    """
    query = query_nvml(host)
    if query.status in ("crashed", "hung") and query.child.message(NvmlSystem) is None:
        raise RuntimeError(query.problem)
    answers = query.child.messages(GpuRead).values()
    gpus = [msgspec.convert(answer.gpu, Gpu, from_attributes=True) for answer in answers]
    if query.stopped_in is not None and query.stopped_in.name == GpuRead.stage:
        gpus.append(Gpu(index=len(gpus), problem=query.problem))
    return Gpus(gpus=tuple(gpus))
