"""The layers below CUDA: the PCI bus, the device files, the driver.

The kernel module is not among them: reading its files can hang with a driver that hangs, and then these must still be judged.
"""

from gpucheck.core.compat.cuda import CUDA_ERROR_STUB_LIBRARY
from gpucheck.core.model import Fact, Request
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.wsl import Wsl

_KERNEL_ANSWERED = (15, 16, 18)  # a GPU is lost, a reset is required, versions differ


class CudaStack(Fact, frozen=True, kw_only=True):
    """Each layer as its probe saw it, and what several of them say together."""

    request: Request
    system: System
    wsl: Wsl
    container: Container
    pci: Pci
    device_nodes: DeviceNodes
    driver: Driver
    cuda: Cuda

    @property
    def counts_gpus(self) -> bool:
        """Whether CUDA counts a GPU: every layer below it works."""
        return bool(self.cuda.device_count)

    @property
    def kernel_answers(self) -> bool:
        """Whether NVML's answer came from the kernel's half of the driver, which proves a device below it."""
        return bool(self.driver.gpu_count) or self.driver.result in _KERNEL_ANSWERED

    @property
    def given_no_gpu(self) -> bool:
        """Whether this container got no GPU: no device was passed in, or no library with Apptainer, which shares devices."""
        nodes = (self.device_nodes.control, self.device_nodes.uvm, *self.device_nodes.gpus)
        passed = self.wsl.dxg_present or any(node.present for node in nodes)
        return self.container.inside and not (passed and not self.given_no_libraries) and not self.kernel_answers

    @property
    def given_no_libraries(self) -> bool:
        """Whether this is a container of Apptainer without any of the driver's libraries; images may have a stub of libcuda."""
        without_cuda = self.cuda.status == "library-not-found" or self.cuda.result == CUDA_ERROR_STUB_LIBRARY
        return self.container.kind == "apptainer" and self.driver.status == "library-not-found" and without_cuda

    @property
    def asks_for_gpu(self) -> bool:
        """Whether this is a container that was started with a GPU asked for."""
        return self.container.inside and bool(self.container.gpu_requested)

    @property
    def on_host(self) -> str:
        """Where a container has to be repaired: a part of a sentence; empty outside of one."""
        return " on the machine that runs this container" if self.container.inside else ""


@combiner
def combine(
    request: Request,
    system: System,
    wsl: Wsl,
    container: Container,
    pci: Pci,
    device_nodes: DeviceNodes,
    driver: Driver,
    cuda: Cuda,
) -> CudaStack:
    """All layers: one that was not checked leaves the cause unknown."""
    return CudaStack(
        request=request,
        system=system,
        wsl=wsl,
        container=container,
        pci=pci,
        device_nodes=device_nodes,
        driver=driver,
        cuda=cuda,
    )
