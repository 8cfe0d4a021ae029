"""The GPUs that CUDA shows this process, with their compute capability."""

from collections.abc import Iterator

import msgspec

from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE
from gpucheck.core.model import Evidence, Fact, combiner, saw
from gpucheck.core.probes.cuda import Cuda, CudaDevice
from gpucheck.core.probes.gpus import Gpu, Gpus


class CapableGpu(msgspec.Struct, frozen=True):
    """One GPU whose compute capability is known."""

    label: str  # "GPU 3", in NVML's order
    name: str
    capability: tuple[int, int]
    evidence: tuple[Evidence, ...]


class CudaGpus(Fact, frozen=True, kw_only=True):
    """The GPUs that CUDA shows this process, as CUDA and NVML report them."""

    gpus: Gpus
    cuda: Cuda
    capable: tuple[CapableGpu, ...]  # as CUDA lists them, else as NVML does; empty if all are hidden


@combiner
def combine(gpus: Gpus, cuda: Cuda) -> CudaGpus:
    """Prefer CUDA's list: it has the GPUs that this process can use."""
    capable = (
        CapableGpu(label, gpu.name or label, gpu.compute_capability, saw(fact, f"{path}.name", f"{path}.compute_capability"))
        for fact, path, label, gpu in _listed(gpus, cuda)
        if gpu.compute_capability is not None
    )
    return CudaGpus(gpus=gpus, cuda=cuda, capable=() if cuda.result == CUDA_ERROR_NO_DEVICE else tuple(capable))


def _listed(gpus: Gpus, cuda: Cuda) -> Iterator[tuple[Fact, str, str, CudaDevice | Gpu]]:
    """Yield each GPU with the fact that lists it, its path there, and its label."""
    index = {gpu.pci_address: gpu.index for gpu in gpus.gpus if gpu.pci_address}
    for place, device in enumerate(cuda.devices):
        yield cuda, f"devices[{place}]", f"GPU {index.get(device.pci_address or '', device.ordinal)}", device
    for place, gpu in enumerate(gpus.gpus if not cuda.devices else ()):
        yield gpus, f"gpus[{place}]", gpu.label, gpu
