"""The NVIDIA kernel module: whether it is loaded, which version, whether one is installed for the running kernel."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class KernelModule(Fact, frozen=True, kw_only=True):
    """From /proc/driver/nvidia, /sys/module and /lib/modules."""

    loaded: bool | None = None  # None: no /proc/modules to read (macOS, Windows)
    version: str | None = None  # "580.159.04", of the loaded module
    open_source: bool | None = None
    uvm_loaded: bool | None = None  # nvidia_uvm, which CUDA needs
    nouveau_loaded: bool | None = None
    installed_for_running_kernel: bool | None = (
        None  # an nvidia.ko* under /lib/modules/<release>; None: folder unreadable
    )
    installed_for_kernels: tuple[str, ...] = ()  # other kernel releases that have one
    gpu_addresses: tuple[str, ...] = ()  # /proc/driver/nvidia/gpus/*
    gpu_minors: tuple[int, ...] = ()  # device minors of those GPUs: /dev/nvidia<minor>


@probe(level=Level.QUICK)
def read(host: Host) -> KernelModule:
    """Read /proc/driver/nvidia, /sys/module/nvidia*, /proc/modules and /lib/modules."""
    raise NotImplementedError
