"""Keras' other backends, JAX and PyTorch: the systems, drivers and GPUs that each of their builds supports.

Sources: docs.jax.dev/en/latest/installation.html (systems, drivers, GPUs from Maxwell on); METADATA of the jax 0.12.0.1 and
jax-cuda12-plugin 0.12.0 wheels on PyPI; file names of the jaxlib, jax-cuda13-plugin and torch wheels on PyPI (systems, glibc,
the last releases for old ones); PyTorch's RELEASE.md, "PyTorch CUDA Support Matrix", its generate_binary_build_matrix.py
(Windows, aarch64) and .ci/aarch64_linux/aarch64_ci_build.sh (GPUs of the builds for aarch64); pytorch issues #172352,
#175253, #182849, #190355 and #190385 (GPUs and CUDA of each index); NVIDIA's CUDA 13.0 release notes (no GPUs before Turing);
docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html (drivers). PyTorch's own indexes were not
accessible for this table; their releases are those of its matrix. Keras 3.15.1 trains on PyTorch 2.6.0 (tried on a CPU).
"""

from typing import NamedTuple

Platform = tuple[str, str]  # as sys.platform, and the architecture
Capability = tuple[int, int]

LINUX, ARM, WINDOWS = ("linux", "x86_64"), ("linux", "aarch64"), ("win32", "x86_64")
MAC, OLD_MAC = ("darwin", "arm64"), ("darwin", "x86_64")


class Build(NamedTuple):
    """One build of a framework for NVIDIA GPUs."""

    name: str  # the usual name: "jax[cuda13]", "cu126"
    cuda: str
    cuda_major: int
    packages: tuple[str, ...]
    url: str | None  # its package index; None: PyPI
    lowest: Capability  # minimum compute capability
    highest: Capability | None  # None: PTX runs on newer ones
    python_min: str
    python_max: str
    newest: str  # the framework's newest release with that build
    ended: bool = False  # newer releases do not have that build
    platforms: tuple[Platform, ...] = (LINUX, ARM)
    glibc: str = "2.28"
    lowest_on_arm: Capability = (8, 0)  # minimum compute capability of the build for aarch64


class CpuBuild(NamedTuple):
    """A build for the CPU (on macOS for Apple's GPU as well)."""

    platforms: tuple[Platform, ...]
    glibc: str | None
    packages: tuple[str, ...]
    url: str | None
    python_min: str
    python_max: str
    remark: str | None = None


_PYTORCH = "https://download.pytorch.org/whl/"
_ANYWHERE = (LINUX, ARM, WINDOWS)


def _jax(cuda_major: int, cuda: str, lowest: Capability, highest: Capability | None, python_min: str) -> Build:
    """Return a build of JAX, for the same GPUs on each processor."""
    name = f"jax[cuda{cuda_major}]"
    return Build(
        name, cuda, cuda_major, (name,), None, lowest, highest, python_min, "3.14", "0.12", glibc="2.27", lowest_on_arm=lowest
    )


# Best first. Builds for CUDA 13 require Turing; older GPUs need CUDA 12.6 and cuDNN up to 9.10.
JAX = (_jax(13, "13.0", (7, 5), None, "3.11"), _jax(12, "12.9", (5, 2), (12, 1), "3.10"))
# cu128: PyTorch 2.9.1 has machine code for 7.0, but the cuDNN of the newest release may not: cu126 is the build for these GPUs.
TORCH = (
    Build("cu130", "13.0", 13, ("torch",), f"{_PYTORCH}cu130", (7, 5), None, "3.10", "3.14", "2.15", platforms=_ANYWHERE),
    Build("cu126", "12.6", 12, ("torch",), f"{_PYTORCH}cu126", (5, 0), (9, 0), "3.10", "3.14", "2.14", True, _ANYWHERE),
    Build("cu128", "12.8", 12, ("torch",), f"{_PYTORCH}cu128", (7, 5), (12, 0), "3.10", "3.14", "2.11", True, (LINUX, WINDOWS)),
    Build("cu118", "11.8", 11, ("torch",), f"{_PYTORCH}cu118", (5, 0), (9, 0), "3.9", "3.13", "2.7", True, (LINUX, WINDOWS)),
    Build("torch==2.6.0", "12.4", 12, ("torch==2.6.0",), None, (5, 0), (9, 0), "3.9", "3.13", "2.6", True, (LINUX,), "2.17"),
)
BUILDS = {"jax": JAX, "torch": TORCH}

_LAST_ON_INTEL_MACS = "the last release for Macs with an Intel processor"
CPU_BUILDS = {
    "jax": (
        CpuBuild((LINUX, ARM), "2.27", ("jax",), None, "3.10", "3.14"),
        CpuBuild((LINUX, ARM), "2.17", ("jax==0.7.0",), None, "3.11", "3.13", "JAX 0.7.0 is the last for glibc before 2.27"),
        CpuBuild((LINUX, ARM), "2.17", ("jax==0.6.2",), None, "3.10", "3.10", "JAX 0.6.2 is the last for Python 3.10"),
        CpuBuild((WINDOWS, MAC), None, ("jax",), None, "3.10", "3.14"),
        CpuBuild((OLD_MAC,), None, ("jax==0.4.38",), None, "3.10", "3.13", f"JAX 0.4.38 is {_LAST_ON_INTEL_MACS}"),
    ),
    "torch": (
        CpuBuild((LINUX, ARM), "2.28", ("torch",), f"{_PYTORCH}cpu", "3.10", "3.14"),
        CpuBuild(
            (LINUX,), "2.17", ("torch==2.6.0",), f"{_PYTORCH}cpu", "3.9", "3.13", "PyTorch 2.6 is the last for glibc before 2.28"
        ),
        CpuBuild(
            (ARM,), "2.17", ("torch==2.5.1",), None, "3.9", "3.12", "PyTorch 2.5 is the last for glibc before 2.28 on aarch64"
        ),
        CpuBuild((WINDOWS, MAC), None, ("torch",), None, "3.10", "3.14"),
        CpuBuild((OLD_MAC,), None, ("torch==2.2.2", "numpy<2"), None, "3.8", "3.12", f"PyTorch 2.2.2 is {_LAST_ON_INTEL_MACS}"),
    ),
}

# PyTorch's index -> what PyPI has for the same GPUs on Linux x86_64 (METADATA); its build for the CPU is one for CUDA 13.
ON_PYPI = {"cpu": "torch", "cu130": "torch", "cu128": "torch==2.10.0", "cu126": "torch==2.7.1"}

SOURCES = {
    "jax": "https://docs.jax.dev/en/latest/installation.html",
    "torch": "https://github.com/pytorch/pytorch/blob/main/RELEASE.md",
}
KERAS = ">=3.0"
