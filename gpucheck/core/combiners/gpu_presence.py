"""Whether this process has an NVIDIA GPU."""

from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE, results_of
from gpucheck.core.model import Evidence, Fact, Request, Skip, combiner, saw
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.pci import Pci


class GpuPresence(Fact, frozen=True, kw_only=True):
    """Whether this process could use an NVIDIA GPU if all software were correct."""

    present: bool | None  # None: unknown
    evidence: tuple[Evidence, ...] = ()  # how many the driver and CUDA count

    @property
    def skip(self) -> Skip | None:
        """The result of a rule that needs a GPU: a skip if the presence of one is unknown, None if there is none."""
        return Skip("neither the driver nor the PCI bus shows whether this machine has a GPU") if self.present is None else None


def refuses(cuda: Cuda) -> bool:
    """Whether a loaded driver returns an error other than "no device": a machine without GPUs never returns one."""
    return cuda.status == "failed" and cuda.result not in (None, CUDA_ERROR_NO_DEVICE, *results_of("cuda-stub-loaded"))


@combiner
def combine(request: Request, container: Container, pci: Pci, driver: Driver, cuda: Cuda) -> GpuPresence:
    """Check from CUDA's count down to the PCI bus."""
    return GpuPresence(
        present=_present(request, container, pci, driver, cuda), evidence=(*saw(driver, "gpu_count"), *saw(cuda, "device_count"))
    )


def _present(request: Request, container: Container, pci: Pci, driver: Driver, cuda: Cuda) -> bool | None:
    """Whether this process has a GPU.

    A container shows its host's PCI bus, which proves nothing. A GPU that was passed to a virtual machine is
    ignored. With --allow-cpu, GPUs are ignored if all of them are hidden from CUDA on purpose.
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
    # A driver that hangs or returns an error may have a GPU. In WSL and containers nothing else shows one.
    return None if unanswered or refuses(cuda) else False
