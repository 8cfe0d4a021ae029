"""What the wheels of a release of TensorFlow support: platforms and NVIDIA GPUs.

Source of the platforms: file names on PyPI; ``tools/check_releases.py`` verifies them.
"""

from gpucheck.core.compat import cuda, versions, wheels
from gpucheck.core.compat.tensorflow import LAST_ON_WINDOWS, Release

CUDA_PLATFORMS = (("linux", "x86_64"),)  # the platforms of wheels with CUDA, after LAST_ON_WINDOWS

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
    ended = last is not None and not versions.at_least(last, release.minor)
    return first is not None and versions.at_least(release.minor, first) and not ended


def has_cuda(release: Release, system: str, architecture: str) -> bool:
    """Whether the wheel for that platform can use NVIDIA GPUs."""
    if system == "win32":
        return release.minor == LAST_ON_WINDOWS
    return (system, architecture) in CUDA_PLATFORMS


def is_native(release: Release, capability: tuple[int, int]) -> bool:
    """Whether most of the wheel's code is machine code for the GPU: for the same major number, and the same or a lower minor."""
    found = wheels.support(wheels.find("tensorflow", release.latest_patch), capability)
    return found.usable and found.native > found.compiled


def compiled_from_ptx(release: Release, capability: tuple[int, int]) -> bool:
    """Whether the wheel has code for the GPU, with a driver that is new enough to compile its PTX."""
    return wheels.support(wheels.find("tensorflow", release.latest_patch), capability).usable


def cuda_of_ptx(release: Release, capability: tuple[int, int]) -> str:
    """Return the CUDA whose driver can compile the wheel's PTX for this GPU: '12.5' for 2.21 on 9.0."""
    newest = wheels.support(wheels.find("tensorflow", release.latest_patch), capability).ptx
    return cuda.cuda_of_ptx(newest) if newest else release.cuda
