"""NVIDIA and Google functions on the PCI bus, and the kernel driver bound to each. From sysfs: lspci is not needed."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class PciFunction(Fact, frozen=True, kw_only=True):
    """One function on the bus."""

    address: str  # "0000:00:06.0"
    vendor_id: str  # "0x10de"
    device_id: str  # "0x2335"
    subsystem_device_id: str | None = None
    class_code: str | None = None  # "0x030200"
    kernel_driver: str | None = None  # "nvidia", "nouveau", "vfio-pci"; None: no driver bound


class Pci(Fact, frozen=True, kw_only=True):
    """The bus. ``readable`` is False where there is no sysfs (macOS, Windows, WSL1, some sandboxes)."""

    readable: bool
    gpus: tuple[PciFunction, ...] = ()  # NVIDIA display and 3D controllers (class 0x03)
    nvswitches: tuple[PciFunction, ...] = ()  # NVIDIA bridges of NVSwitch machines (class 0x0680)
    amd_gpus: tuple[PciFunction, ...] = ()  # vendor 0x1002, class 0x03
    google: tuple[PciFunction, ...] = ()  # vendor 0x1ae0 (TPU chips, but also network cards)


@probe(level=Level.QUICK)
def read(host: Host) -> Pci:
    """Read /sys/bus/pci/devices."""
    raise NotImplementedError
