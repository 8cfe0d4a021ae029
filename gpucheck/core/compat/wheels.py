"""TensorFlow's wheels: their platforms, and the driver that can compile their PTX.

Sources: file names of the wheels on PyPI; build_info.py of the 2.21.0 aarch64 wheel (no CUDA); the fat binaries in
libtensorflow_cc.so.2 of the Linux x86_64 wheels (PTX versions: 7.1 is CUDA 11.1's, 8.3 CUDA 12.3's, 8.5 CUDA 12.5's);
docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html (a driver can't compile PTX newer than itself).
``tools/check_releases.py`` verifies both.
"""

from gpucheck.core.compat import versions
from gpucheck.core.compat.tensorflow import LAST_ON_WINDOWS, Release

CUDA_PLATFORMS = (("linux", "x86_64"),)  # the platforms of wheels with CUDA, after LAST_ON_WINDOWS

# Minor -> the CUDA of its PTX: for GPUs of the PTX's own generation (which has some machine code too), and for newer ones.
_CUDA_OF_PTX = {
    "2.10": ("11.0", "11.2"),
    "2.11": ("11.0", "11.2"),
    "2.12": ("11.0", "11.8"),
    "2.13": ("11.1", "11.8"),
    "2.14": ("11.1", "11.8"),
    "2.15": ("11.1", "12.1"),
    "2.16": ("12.0", "12.1"),
    "2.17": ("12.3", "12.3"),
    "2.18": ("12.3", "12.3"),
}

# (system, architecture) -> the first and the last minor with wheels; None: still built.
_PLATFORMS: dict[tuple[str, str], tuple[str, str | None]] = {
    ("linux", "x86_64"): ("2.10", None),
    ("linux", "aarch64"): ("2.10", None),
    ("win32", "x86_64"): ("2.10", None),
    ("darwin", "x86_64"): ("2.10", "2.16"),
    ("darwin", "arm64"): ("2.13", None),
}


def has_wheels(release: Release, system: str, architecture: str) -> bool:
    """Whether PyPI has a wheel of this release: ('darwin', 'arm64') from 2.13 on."""
    first, last = _PLATFORMS.get((system, architecture), (None, None))
    return (
        first is not None and versions.at_least(release.minor, first) and (last is None or versions.at_least(last, release.minor))
    )


def has_cuda(release: Release, system: str, architecture: str) -> bool:
    """Whether the wheel for that platform can use NVIDIA GPUs."""
    if system == "win32":
        return release.minor == LAST_ON_WINDOWS
    return (system, architecture) in CUDA_PLATFORMS


def is_native(release: Release, capability: tuple[int, int]) -> bool:
    """Whether the wheel has machine code for the GPU: for the same major number, and the same or a lower minor number."""
    major, minor = capability
    return any(cubin // 10 == major and cubin % 10 <= minor for cubin in release.cubins)


def compiled_from_ptx(release: Release, capability: tuple[int, int]) -> bool:
    """Whether a new enough driver can compile the wheel's PTX for the GPU."""
    return divmod(release.ptx, 10) <= capability


def cuda_of_ptx(release: Release, capability: tuple[int, int]) -> str:
    """Return the CUDA whose driver can compile the wheel's PTX for this GPU: '12.5' for 2.21 on 9.0."""
    same_generation, newer = _CUDA_OF_PTX.get(release.minor, (release.cuda, release.cuda))
    return same_generation if capability[0] == release.ptx // 10 else newer
