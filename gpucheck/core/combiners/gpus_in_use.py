"""The GPUs that this process may use, as NVML reports them, with TensorFlow's name of each."""

from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE
from gpucheck.core.model import Fact, combiner
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.gpus import Gpu, Gpus


class GpusInUse(Fact, frozen=True, kw_only=True):
    """The GPUs that CUDA shows this process; all that NVML lists if CUDA's are unknown."""

    gpus: Gpus
    cuda: Cuda | None
    used: tuple[tuple[int, Gpu], ...]  # with their indexes in ``Gpus.gpus``

    def device_name(self, gpu: Gpu) -> str:
        """Return TensorFlow's name of that GPU, "GPU:0", numbered in CUDA's order."""
        for device in self.cuda.devices if self.cuda is not None else ():
            if device.pci_address is not None and device.pci_address == gpu.pci_address:
                return f"GPU:{device.ordinal}"
        return f"GPU:{gpu.index}"


@combiner
def combine(gpus: Gpus, cuda: Cuda | None) -> GpusInUse:
    """Select from NVML's GPUs those that CUDA lists."""
    if cuda is not None and cuda.result == CUDA_ERROR_NO_DEVICE:
        return GpusInUse(gpus=gpus, cuda=cuda, used=())
    listed = tuple(enumerate(gpus.gpus))
    visible = {device.pci_address for device in cuda.devices if device.pci_address} if cuda is not None else set()
    used = tuple((place, gpu) for place, gpu in listed if gpu.pci_address in visible) or listed
    return GpusInUse(gpus=gpus, cuda=cuda, used=used)
