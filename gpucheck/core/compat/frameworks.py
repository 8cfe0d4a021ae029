"""Keras' other backends, JAX and PyTorch: the drivers and GPUs that each of their CUDA builds supports.

Sources: docs.jax.dev/en/latest/installation.html (drivers, GPUs from Maxwell on); METADATA of the jax 0.12.0.1 and
jax-cuda12-plugin 0.12.0 wheels on PyPI; PyTorch's RELEASE.md, "PyTorch CUDA Support Matrix", and pytorch issues #172352,
#175253, #182849, #190355 and #190385 (GPUs and CUDA of each index); NVIDIA's CUDA 13.0 release notes (no GPUs before
Turing); docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html (drivers). PyTorch's own indexes were not
accessible for this table; their releases are those of its matrix.
"""

from typing import NamedTuple


class Build(NamedTuple):
    """One build of a framework for NVIDIA GPUs."""

    name: str  # the usual name: "jax[cuda13]", "cu126"
    cuda: str
    cuda_major: int
    packages: tuple[str, ...]
    url: str | None  # its package index; None: PyPI
    lowest: tuple[int, int]  # minimum compute capability
    highest: tuple[int, int] | None  # None: PTX runs on newer ones
    python_min: str
    python_max: str
    newest: str  # the framework's newest release with that build
    ended: bool = False  # newer releases do not have that build


_PYTORCH = "https://download.pytorch.org/whl/"

# Best first. Builds for CUDA 13 require Turing; older GPUs need CUDA 12.6 and cuDNN up to 9.10.
JAX = (
    Build("jax[cuda13]", "13.0", 13, ("jax[cuda13]",), None, (7, 5), None, "3.11", "3.14", "0.12"),
    Build("jax[cuda12]", "12.9", 12, ("jax[cuda12]",), None, (5, 2), (12, 1), "3.10", "3.14", "0.12"),
)
TORCH = (
    Build("cu130", "13.0", 13, ("torch",), f"{_PYTORCH}cu130", (7, 5), None, "3.10", "3.14", "2.15"),
    Build("cu126", "12.6", 12, ("torch",), f"{_PYTORCH}cu126", (5, 0), (9, 0), "3.10", "3.14", "2.14", True),
    Build("cu128", "12.8", 12, ("torch",), f"{_PYTORCH}cu128", (7, 5), (12, 0), "3.10", "3.14", "2.11", True),
    Build("cu118", "11.8", 11, ("torch",), f"{_PYTORCH}cu118", (5, 0), (9, 0), "3.9", "3.13", "2.7", True),
)
BUILDS = {"jax": JAX, "torch": TORCH}

CPU_INDEX = {"torch": f"{_PYTORCH}cpu"}  # for frameworks whose default build for Linux has CUDA
SOURCES = {
    "jax": "https://docs.jax.dev/en/latest/installation.html",
    "torch": "https://github.com/pytorch/pytorch/blob/main/RELEASE.md",
}
KERAS = ">=3.0"
