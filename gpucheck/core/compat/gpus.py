"""Compute capabilities: architecture, names of GPUs, usable precisions.

Sources: developer.nvidia.com/cuda-gpus and /cuda-legacy-gpus (architectures); CUDA C++ Programming Guide, "Input Data Types
Supported by Tensor Core Acceleration per Compute Capability" (precisions); tensorflow/core/common_runtime/gpu/gpu_device.cc
(multiprocessors). Not verified: Tensor Cores of 7.0 and 7.2.
"""

from collections.abc import Iterable
from typing import Literal

from gpucheck.core.compat import gpu_names

# Compute capability -> its architecture.
CAPABILITIES: dict[tuple[int, int], str] = {
    **dict.fromkeys(((2, 0), (2, 1)), "Fermi"),
    **dict.fromkeys(((3, 0), (3, 5), (3, 7)), "Kepler"),
    **dict.fromkeys(((5, 0), (5, 2), (5, 3)), "Maxwell"),
    **dict.fromkeys(((6, 0), (6, 1), (6, 2)), "Pascal"),
    **dict.fromkeys(((7, 0), (7, 2)), "Volta"),
    (7, 5): "Turing",
    **dict.fromkeys(((8, 0), (8, 6), (8, 7)), "Ampere"),
    (8, 9): "Ada Lovelace",
    (9, 0): "Hopper",
    (10, 0): "Blackwell",
    (10, 3): "Blackwell Ultra",
    **dict.fromkeys(((11, 0), (12, 0), (12, 1)), "Blackwell"),  # 11.0 is 10.1 in CUDA 12.8 and 12.9
}
JETSON = {(5, 3), (6, 2), (7, 2), (8, 7), (11, 0)}  # boards with their own driver and packages

# First capability whose Tensor Cores take this input type.
_TENSOR_CORES = {"float16": (7, 0), "bfloat16": (8, 0), "tf32": (8, 0)}

# gpu_device.cc, GetDefaultMinGPUMultiprocessorCount(); TF_MIN_GPU_MULTIPROCESSOR_COUNT overrides it.
LOWEST_MULTIPROCESSORS = 8


def named(name: str) -> tuple[int, int] | None:
    """Return the compute capability for a name of an NVIDIA GPU: (12, 0) for 'RTX 5070 Ti'; None if unknown."""
    found = gpu_names.at_start(name.lower())
    return found[1].chip if found is not None and isinstance(found[1].chip, tuple) else None


def architecture(capability: tuple[int, int]) -> str | None:
    """Return the architecture: 'Hopper' for (9, 0); None for a capability that is not in the table."""
    return CAPABILITIES.get(capability)


def supports(capability: tuple[int, int], precision: Literal["float16", "bfloat16", "tf32"]) -> bool | None:
    """Whether the GPU has Tensor Cores for the precision; None for a GPU newer than the table.

    The GeForce GTX 16 series has capability 7.5 but no Tensor Cores; only its name shows that.
    """
    return None if capability > max(CAPABILITIES) else capability >= _TENSOR_CORES[precision]


def lowest_multiprocessors(counts: Iterable[int]) -> int:
    """Return the minimum that TensorFlow applies to these visible GPUs: 8, or the maximum of them if all have fewer.

    So a small GPU is rejected only next to a larger one, or if TF_MIN_GPU_MULTIPROCESSOR_COUNT requires more.
    """
    return min(LOWEST_MULTIPROCESSORS, max(counts, default=LOWEST_MULTIPROCESSORS))
