"""The GPUs that this process may use, and what each is called."""

from typing import NamedTuple

from gpucheck.compat.cuda import CUDA_ERROR_NO_DEVICE
from gpucheck.engine.plugin import combiner
from gpucheck.model import Evidence, Fact, saw
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.gpus import Gpu, Gpus


class CapableGpu(NamedTuple):
    """One GPU whose compute capability is known."""

    label: str  # "GPU 3", in NVML's order
    name: str
    capability: tuple[int, int]
    evidence: tuple[Evidence, ...]


class GpusInUse(Fact, frozen=True, kw_only=True):
    """The GPUs that CUDA offers this process; all that NVML lists, if CUDA could not say."""

    gpus: Gpus
    cuda: Cuda | None
    used: tuple[tuple[int, Gpu], ...]  # with their places in ``Gpus.gpus``
    capable: tuple[CapableGpu, ...]  # as CUDA lists them, else as NVML does; none where all are hidden

    def device_name(self, gpu: Gpu) -> str:
        """TensorFlow's name of that GPU, "GPU:0": it counts in CUDA's order."""
        for device in self.cuda.devices if self.cuda is not None else ():
            if device.pci_address is not None and device.pci_address == gpu.pci_address:
                return f"GPU:{device.ordinal}"
        return f"GPU:{gpu.index}"


@combiner
def combine(gpus: Gpus, cuda: Cuda | None) -> GpusInUse:
    """NVML's account of each, CUDA's choice among them."""
    if cuda is not None and cuda.result == CUDA_ERROR_NO_DEVICE:
        return GpusInUse(gpus=gpus, cuda=cuda, used=(), capable=())
    listed = tuple(enumerate(gpus.gpus))
    visible = {device.pci_address for device in cuda.devices if device.pci_address} if cuda is not None else set()
    used = tuple((place, gpu) for place, gpu in listed if gpu.pci_address in visible) or listed
    capable = _as_cuda_lists(gpus, cuda) if cuda is not None and cuda.devices else _as_nvml_lists(gpus)
    return GpusInUse(gpus=gpus, cuda=cuda, used=used, capable=tuple(capable))


def _as_cuda_lists(gpus: Gpus, cuda: Cuda) -> list[CapableGpu]:
    index = {gpu.pci_address: gpu.index for gpu in gpus.gpus if gpu.pci_address}
    found = []
    for place, device in enumerate(cuda.devices):
        if device.compute_capability is not None:
            label = f"GPU {index.get(device.pci_address or '', device.ordinal)}"
            evidence = saw(cuda, f"devices[{place}].name", f"devices[{place}].compute_capability")
            found.append(CapableGpu(label, device.name or label, device.compute_capability, evidence))
    return found


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
