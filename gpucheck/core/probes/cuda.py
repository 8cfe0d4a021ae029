"""The result of cuInit, the devices and the driver's version, queried from libcuda.so.1 in a child."""

import re

from msgspec.structs import asdict, replace

from gpucheck.core.child.messages.drivers import (
    CudaCount,
    CudaDevice,
    CudaDevices,
    CudaPeers,
    CudaTask,
    CudaVersion,
    DriverStarted,
)
from gpucheck.core.compat import results
from gpucheck.core.compat.cuda import CUDA_ERROR_OUT_OF_MEMORY
from gpucheck.core.host import Host
from gpucheck.core.model import Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import driver
from gpucheck.core.probes._driver_query import DriverAnswer, cuda_version, longest_silence, query_driver

__all__ = ("Cuda", "CudaDevice", "pci_address", "read")

ACTIVITIES = {
    "load": "while libcuda.so.1 was opened",
    "version": "in cuDriverGetVersion",
    "init": "in cuInit",
    "count": "in cuDeviceGetCount",
    "devices": "while CUDA was queried about the devices",
    "peers": "in cuDeviceCanAccessPeer",
}


DATA_BYTES = 8 << 30  # cuInit needs less on nodes of eight GPUs


class Cuda(DriverAnswer, frozen=True, kw_only=True):
    """libcuda's version and devices. ``status`` as in ``Driver``."""

    driver_version: str | None = None  # CUDA version the library implements: "13.0"
    device_count: int | None = None
    devices: tuple[CudaDevice, ...] = ()
    # Pairs of ordinals, (0, 3): the first can't access the second's memory. None: not queried, as with one device.
    peers_missing: tuple[tuple[int, int], ...] | None = None


@probe(level=Level.NODE)
def read(host: Host) -> Cuda:
    """Run the CUDA child: it calls cuInit and counts, and creates no context."""
    silence = longest_silence(host)
    child = host.child(CudaTask(), limit=host.remaining())
    # One call may take as long as NVML's queries together: cuInit starts every GPU, too.
    query = query_driver(child, ACTIVITIES, (DriverStarted, CudaCount), silence, lambda: 2 * driver.seconds_of_nvml(host))
    if query.answer.result == CUDA_ERROR_OUT_OF_MEMORY and (data := host.ulimit("DATA") or DATA_BYTES) < DATA_BYTES:
        raise RuntimeError(f"out of memory, under this process's limit on its data of {data >> 20} MiB (ulimit -d)")
    answer = query.answer
    if answer.result and answer.result_name is None and (known := results.cuda(str(answer.result))):
        answer = replace(answer, result_name=known.name, problem=known.name)
    version, count = child.message(CudaVersion) or CudaVersion(), child.message(CudaCount) or CudaCount()
    devices, peers = child.message(CudaDevices) or CudaDevices(()), child.message(CudaPeers) or CudaPeers()
    return Cuda(
        **asdict(answer),
        driver_version=cuda_version(version.number),
        device_count=count.count,
        devices=tuple(replace(device, pci_address=pci_address(device.pci_address)) for device in devices.devices),
        peers_missing=peers.missing,
    )


def pci_address(text: str | None) -> str | None:
    """Convert an address to the form in ``Gpu``, from NVML's "00000000:00:06.0" or CUDA's upper case; None for other text."""
    match = re.fullmatch(r"([0-9a-f]{1,8}):([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?", (text or "").lower())
    if match is None:
        return None
    domain, bus, device, function = (int(part or "0", 16) for part in match.groups())
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function}"
