"""Compute capabilities: architecture, example products, usable precisions.

Sources: developer.nvidia.com/cuda-gpus and /cuda-legacy-gpus (products); CUDA C++ Programming Guide, "Input Data Types
Supported by Tensor Core Acceleration per Compute Capability" (precisions); tensorflow/core/common_runtime/gpu/gpu_device.cc
(multiprocessors). Not verified: Tensor Cores of 7.0 and 7.2.
"""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec


class Capability(msgspec.Struct, frozen=True):
    """The products of a compute capability."""

    architecture: str
    products: tuple[str, ...]


CAPABILITIES: dict[tuple[int, int], Capability] = {
    (2, 0): Capability("Fermi", ("Tesla M2090", "GeForce GTX 480")),
    (2, 1): Capability("Fermi", ("GeForce GTX 460",)),
    (3, 0): Capability("Kepler", ("Tesla K10", "GeForce GTX 680")),
    (3, 5): Capability("Kepler", ("Tesla K40", "GeForce GTX TITAN")),
    (3, 7): Capability("Kepler", ("Tesla K80",)),
    (5, 0): Capability("Maxwell", ("GeForce GTX 750 Ti", "Quadro K2200")),
    (5, 2): Capability("Maxwell", ("Tesla M60", "Tesla M40", "GeForce GTX 980")),
    (5, 3): Capability("Maxwell", ("Jetson Nano",)),
    (6, 0): Capability("Pascal", ("Tesla P100", "Quadro GP100")),
    (6, 1): Capability("Pascal", ("Tesla P40", "Tesla P4", "GeForce GTX 1080 Ti")),
    (6, 2): Capability("Pascal", ("Jetson TX2",)),
    (7, 0): Capability("Volta", ("V100", "TITAN V", "Quadro GV100")),
    (7, 2): Capability("Volta", ("Jetson AGX Xavier", "Jetson Xavier NX")),
    (7, 5): Capability("Turing", ("T4", "GeForce RTX 2080 Ti", "GeForce GTX 1660", "Quadro RTX 6000")),
    (8, 0): Capability("Ampere", ("A100", "A30")),
    (8, 6): Capability("Ampere", ("A40", "A10", "GeForce RTX 3090", "RTX A6000")),
    (8, 7): Capability("Ampere", ("Jetson AGX Orin",)),
    (8, 9): Capability("Ada Lovelace", ("L4", "L40S", "GeForce RTX 4090", "RTX 6000 Ada")),
    (9, 0): Capability("Hopper", ("H100", "H200", "GH200")),
    (10, 0): Capability("Blackwell", ("B200", "GB200")),
    (10, 3): Capability("Blackwell Ultra", ("B300", "GB300")),
    (11, 0): Capability("Blackwell", ("Jetson T5000",)),  # 10.1 in CUDA 12.8 and 12.9
    (12, 0): Capability("Blackwell", ("GeForce RTX 5090", "RTX PRO 6000 Blackwell")),
    (12, 1): Capability("Blackwell", ("GB10 (DGX Spark)",)),
}

JETSON = {(5, 3), (6, 2), (7, 2), (8, 7), (11, 0)}  # boards with their own driver and packages

# Compute capability by the series in a product name.
_SERIES = {
    r"RTX ?50\d\d|Blackwell": (12, 0),
    r"RTX ?40\d\d": (8, 9),
    r"RTX ?(?:30\d\d|A\d000)": (8, 6),
    r"RTX ?20\d\d|GTX ?16\d\d": (7, 5),
    r"P100": (6, 0),
    r"GTX ?10\d\d": (6, 1),
    r"GTX ?9\d\d|M60": (5, 2),
    r"GTX ?7\d\d": (3, 5),
    r"GTX ?6\d\d": (3, 0),
    r"K80": (3, 7),
}

# First capability whose Tensor Cores take this input type.
_TENSOR_CORES = {"float16": (7, 0), "bfloat16": (8, 0), "tf32": (8, 0)}

# gpu_device.cc, GetDefaultMinGPUMultiprocessorCount(); TF_MIN_GPU_MULTIPROCESSOR_COUNT overrides it.
LOWEST_MULTIPROCESSORS = 8


def named(name: str) -> tuple[int, int] | None:
    """Return the compute capability for a product name, or its series: (12, 0) for 'RTX 5070 Ti'; None if unknown."""
    listed = [number for number, entry in CAPABILITIES.items() if any(product in name for product in entry.products)]
    series = (number for pattern, number in _SERIES.items() if re.search(pattern, name))
    return listed[-1] if listed else next(series, None)


def architecture(capability: tuple[int, int]) -> str | None:
    """Return the architecture: 'Hopper' for (9, 0); None for a capability that is not in the table."""
    entry = CAPABILITIES.get(capability)
    return entry.architecture if entry else None


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
