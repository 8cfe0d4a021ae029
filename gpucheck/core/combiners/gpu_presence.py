"""Whether an NVIDIA GPU is here for this process."""

from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE, CUDA_ERROR_STUB_LIBRARY
from gpucheck.core.model import Evidence, Fact, Request, Skip, saw
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.pci import Pci


class GpuPresence(Fact, frozen=True, kw_only=True):
    """Whether this process should be able to use an NVIDIA GPU once everything above the hardware is right."""

    here: bool | None  # None: unknown
    evidence: tuple[Evidence, ...] = ()  # how many the driver and CUDA count

    @property
    def skip(self) -> Skip | None:
        """The answer of a rule that only matters where a GPU is: why it can't judge, or None where there is nothing to judge."""
        return Skip("neither the driver nor the PCI bus could say whether a GPU is here") if self.here is None else None


def refuses(cuda: Cuda) -> bool:
    """Whether a driver was loaded and names an error other than "no device", which a machine without GPUs never gives."""
    return cuda.status == "failed" and cuda.result not in (None, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_STUB_LIBRARY)


@combiner
def combine(request: Request, container: Container, pci: Pci, driver: Driver, cuda: Cuda) -> GpuPresence:
    """From CUDA's count down to the bus."""
    return GpuPresence(
        here=_here(request, container, pci, driver, cuda), evidence=(*saw(driver, "gpu_count"), *saw(cuda, "device_count"))
    )


def _here(request: Request, container: Container, pci: Pci, driver: Driver, cuda: Cuda) -> bool | None:
    """Whether one is here.

    A container sees its host's PCI bus, so there the bus proves nothing; a GPU handed to a virtual machine is not ours.
    Where no GPU is needed (--allow-cpu), those that were all hidden from CUDA on purpose do not count.
    """
    if cuda.device_count:
        return True
    if not request.needs_gpu and cuda.result == CUDA_ERROR_NO_DEVICE:
        return False
    if driver.gpu_count:
        return True
    if not container.inside and any(gpu.kernel_driver != "vfio-pci" for gpu in pci.gpus):
        return True
    unanswered = {"crashed", "hung"} & {driver.status, cuda.status}
    # A driver that hangs or refuses may well have a GPU, which WSL and containers show nowhere else.
    return None if unanswered or refuses(cuda) else False
