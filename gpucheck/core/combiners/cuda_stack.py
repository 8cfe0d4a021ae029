"""CUDA and the layers below it in this process: WSL, the container, the device files, the driver.

The kernel module is not included: if the driver hangs, reading its files can hang too, and these layers must still be checked.
"""

from gpucheck.core.compat.cuda import results_of
from gpucheck.core.model import Fact, combiner
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.wsl import Wsl

_KERNEL_RESPONDED = (15, 16, 18)  # a GPU is lost, a reset is required, versions differ


class CudaStack(Fact, frozen=True, kw_only=True):
    """Conclusions from several layers, with the facts that they are derived from."""

    wsl: Wsl
    container: Container
    device_nodes: DeviceNodes
    driver: Driver
    cuda: Cuda

    @property
    def counts_gpus(self) -> bool:
        """Whether CUDA counts a GPU, which proves that every layer below it works."""
        return bool(self.cuda.device_count)

    @property
    def kernel_responds(self) -> bool:
        """Whether NVML's result came from the kernel module, which proves that a device exists."""
        return bool(self.driver.gpu_count) or self.driver.result in _KERNEL_RESPONDED

    @property
    def lacks_libraries(self) -> bool:
        """Whether no library of the driver is found, except for a stub of libcuda."""
        without_cuda = self.cuda.status == "library-not-found" or self.cuda.result in results_of("cuda-stub-loaded")
        return self.driver.status == "library-not-found" and without_cuda

    @property
    def container_lacks_gpu(self) -> bool:
        """Whether this container has no GPU: no device was passed in, or no library with Apptainer, which shares all devices."""
        nodes = (self.device_nodes.control, self.device_nodes.uvm, *self.device_nodes.gpus)
        passed = self.wsl.dxg_present or any(node.present for node in nodes)
        return self.container.inside and not (passed and not self.container_lacks_driver) and not self.kernel_responds

    @property
    def container_lacks_driver(self) -> bool:
        """Whether this is an Apptainer container without the driver's libraries, except for a stub of libcuda in the image."""
        return self.container.kind == "apptainer" and self.lacks_libraries

    @property
    def container_requests_gpu(self) -> bool:
        """Whether this container was started with a request for a GPU."""
        return self.container.inside and bool(self.container.gpu_requested)


combine = combiner(CudaStack)  # without one of the layers, the cause is unknown
