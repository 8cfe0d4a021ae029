"""NVIDIA, AMD and Google functions on the PCI bus, and their kernel drivers, from sysfs: lspci is not needed."""

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe

DEVICES = "/sys/bus/pci/devices"
NVIDIA, AMD, GOOGLE = "0x10de", "0x1002", "0x1ae0"
DISPLAY, ACCELERATOR, BRIDGE = "0x03", "0x12", "0x0680"  # base classes, and class with subclass "other bridge"


class PciFunction(Fact, frozen=True, kw_only=True):
    """One function on the bus."""

    address: str  # "0000:00:06.0"
    vendor_id: str  # "0x10de"
    device_id: str  # "0x2335"
    subsystem_device_id: str | None = None
    class_code: str | None = None  # "0x030200"
    kernel_driver: str | None = None  # "nvidia", "nouveau", "vfio-pci"; None: no driver bound


class Pci(Fact, frozen=True, kw_only=True):
    """The bus. ``readable`` is False without sysfs (macOS, Windows, WSL1, some sandboxes)."""

    readable: bool
    gpus: tuple[PciFunction, ...] = ()  # NVIDIA display and 3D controllers (class 0x03)
    nvswitches: tuple[PciFunction, ...] = ()  # NVIDIA bridges of NVSwitch machines (class 0x0680)
    amd_gpus: tuple[PciFunction, ...] = ()  # vendor 0x1002, class 0x03, or 0x12 as Instinct accelerators have it
    google: tuple[PciFunction, ...] = ()  # vendor 0x1ae0 (TPU chips, but also network cards)


@probe(level=Level.NODE)
def read(host: Host) -> Pci:
    """Read /sys/bus/pci/devices."""
    addresses = host.names(DEVICES)
    kept = functions(host, addresses)
    return Pci(
        readable=bool(addresses),
        gpus=_of(kept, NVIDIA, DISPLAY),
        nvswitches=_of(kept, NVIDIA, BRIDGE),
        amd_gpus=_of(kept, AMD, DISPLAY, ACCELERATOR),
        google=_of(kept, GOOGLE, ""),
    )


def functions(host: Host, addresses: list[str], vendors: tuple[str, ...] = (NVIDIA, AMD, GOOGLE)) -> list[PciFunction]:
    """Return the functions of these vendors. For other functions only the vendor is read: large machines have hundreds."""
    listed = []
    for address in addresses:
        vendor = _value(host, address, "vendor")
        device = _value(host, address, "device") if vendor in vendors else None
        if vendor and device:
            listed.append(
                PciFunction(
                    address=address.lower(),
                    vendor_id=vendor,
                    device_id=device,
                    subsystem_device_id=_value(host, address, "subsystem_device"),
                    class_code=_value(host, address, "class"),
                    kernel_driver=(host.link(f"{DEVICES}/{address}/driver") or "").rpartition("/")[2] or None,
                )
            )
    return listed


def _value(host: Host, address: str, name: str) -> str | None:
    return (host.read(f"{DEVICES}/{address}/{name}", 64) or "").strip().lower() or None


def _of(functions: list[PciFunction], vendor: str, *classes: str) -> tuple[PciFunction, ...]:
    return tuple(
        function for function in functions if function.vendor_id == vendor and (function.class_code or "").startswith(classes)
    )
