"""Which GPUs this process should be able to use, and what each is called."""

from typing import NamedTuple

from gpucheck.compat.cuda import CUDA_ERROR_NO_DEVICE, CUDA_ERROR_STUB_LIBRARY
from gpucheck.model import Evidence, Request, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpu, Gpus
from gpucheck.probes.pci import Pci

NO_VIEW_OF_GPUS = Skip("neither the driver nor the PCI bus could say whether a GPU is here")


def gpu_here(request: Request, container: Container, pci: Pci, driver: Driver, cuda: Cuda) -> bool | None:
    """Whether this process should be able to use an NVIDIA GPU once everything above the hardware is right.

    A container sees its host's PCI bus, so there the bus proves nothing; a GPU handed to a virtual machine is not ours.
    Where no GPU is needed (--allow-cpu), those that were all hidden from CUDA on purpose do not count. None: nobody could say.
    """
    if cuda.device_count:
        return True
    if not request.needs_gpu and cuda.result == CUDA_ERROR_NO_DEVICE:
        return False
    if driver.gpu_count:
        return True
    if not container.inside and any(gpu.kernel_driver != "vfio-pci" for gpu in pci.gpus):
        return True
    silent = {"crashed", "hung"} & {driver.status, cuda.status}
    # A driver that hangs or refuses may well have a GPU, which WSL and containers show nowhere else.
    return None if silent or refuses(cuda) else False


def refuses(cuda: Cuda) -> bool:
    """Whether a driver was loaded and names an error other than "no device": that is no word for a machine without GPUs."""
    return cuda.status == "failed" and cuda.result not in (None, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_STUB_LIBRARY)


def absent(here: bool | None) -> Skip | None:
    """The answer of a rule that only matters where a GPU is, for ``gpu_here`` being False or None."""
    return NO_VIEW_OF_GPUS if here is None else None


class Visible(NamedTuple):
    """One GPU that this process may use."""

    label: str  # "GPU 3", in NVML's order
    name: str
    capability: tuple[int, int]
    evidence: tuple[Evidence, ...]


def visible_gpus(gpus: Gpus, cuda: Cuda) -> list[Visible]:
    """The GPUs whose compute capability is known: as CUDA lists them, else as NVML does. None where all are hidden."""
    found: list[Visible] = []
    if cuda.result == CUDA_ERROR_NO_DEVICE:
        return found
    if cuda.devices:
        index = {gpu.pci_address: gpu.index for gpu in gpus.gpus if gpu.pci_address}
        for place, device in enumerate(cuda.devices):
            if device.compute_capability is not None:
                label = f"GPU {index.get(device.pci_address or '', device.ordinal)}"
                evidence = saw(cuda, f"devices[{place}].name", f"devices[{place}].compute_capability")
                found.append(Visible(label, device.name or label, device.compute_capability, evidence))
        return found
    for place, gpu in enumerate(gpus.gpus):
        if gpu.compute_capability is not None:
            label, evidence = f"GPU {gpu.index}", saw(gpus, f"gpus[{place}].name", f"gpus[{place}].compute_capability")
            found.append(Visible(label, gpu.name or label, gpu.compute_capability, evidence))
    return found


def gpus_in_use(gpus: Gpus, cuda: Cuda | None) -> list[tuple[int, Gpu]]:
    """The GPUs that CUDA offers this process (all, if CUDA could not say), with their places in ``Gpus.gpus``."""
    if cuda is not None and cuda.result == CUDA_ERROR_NO_DEVICE:
        return []
    visible = {device.pci_address for device in cuda.devices if device.pci_address} if cuda is not None else set()
    known = [(index, gpu) for index, gpu in enumerate(gpus.gpus)]
    return [(index, gpu) for index, gpu in known if gpu.pci_address in visible] or known


def title(gpu: Gpu) -> str:
    """'GPU 3 (NVIDIA H200)'."""
    return f"GPU {gpu.index} ({gpu.name})" if gpu.name else f"GPU {gpu.index}"


def device_name(gpu: Gpu, cuda: Cuda | None) -> str:
    """TensorFlow's name of that GPU: it counts in CUDA's order."""
    for device in cuda.devices if cuda is not None else ():
        if device.pci_address is not None and device.pci_address == gpu.pci_address:
            return f"GPU:{device.ordinal}"
    return f"GPU:{gpu.index}"
