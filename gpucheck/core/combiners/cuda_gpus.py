"""The GPUs that CUDA shows this process, with their compute capability."""

import msgspec

from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE
from gpucheck.core.model import Evidence, Fact, combiner, saw
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.gpus import Gpus


class CapableGpu(msgspec.Struct, frozen=True):
    """One GPU whose compute capability is known."""

    label: str  # "GPU 3", in NVML's order
    name: str
    capability: tuple[int, int]
    evidence: tuple[Evidence, ...]


class CudaGpus(Fact, frozen=True, kw_only=True):
    """These GPUs, as CUDA and NVML report them."""

    gpus: Gpus
    cuda: Cuda
    capable: tuple[CapableGpu, ...]  # as CUDA lists them, else as NVML does; empty if all are hidden


@combiner
def combine(gpus: Gpus, cuda: Cuda) -> CudaGpus:
    """Prefer CUDA's list: it has the GPUs that this process can use."""
    if cuda.result == CUDA_ERROR_NO_DEVICE:
        return CudaGpus(gpus=gpus, cuda=cuda, capable=())
    capable = _as_cuda_lists(gpus, cuda) if cuda.devices else _as_nvml_lists(gpus)
    return CudaGpus(gpus=gpus, cuda=cuda, capable=tuple(capable))


def _as_cuda_lists(gpus: Gpus, cuda: Cuda) -> list[CapableGpu]:
    index = {gpu.pci_address: gpu.index for gpu in gpus.gpus if gpu.pci_address}
    capable = []
    for place, device in enumerate(cuda.devices):
        if device.compute_capability is not None:
            label = f"GPU {index.get(device.pci_address or '', device.ordinal)}"
            evidence = saw(cuda, f"devices[{place}].name", f"devices[{place}].compute_capability")
            capable.append(CapableGpu(label, device.name or label, device.compute_capability, evidence))
    return capable


def _as_nvml_lists(gpus: Gpus) -> list[CapableGpu]:
    return [
        CapableGpu(
            gpu.label,
            gpu.name or gpu.label,
            gpu.compute_capability,
            saw(gpus, f"gpus[{place}].name", f"gpus[{place}].compute_capability"),
        )
        for place, gpu in enumerate(gpus.gpus)
        if gpu.compute_capability is not None
    ]
