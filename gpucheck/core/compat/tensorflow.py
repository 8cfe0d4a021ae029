"""TensorFlow 2.10 to 2.21 and its GPU requirements: the latest patch of each minor, Linux x86_64 wheels.

Sources: METADATA and file names of the wheels on PyPI (Python, glibc, Keras, NumPy, protobuf);
tf.sysconfig.get_build_info() of the 2.16.2, 2.17.1, 2.18.1, 2.19.1, 2.20.0 and 2.21.0 wheels (CUDA, cuDNN,
capabilities); tensorflow.org/install/source, "Tested build configurations" (2.10 to 2.15); NVIDIA CUDA Toolkit Release
Notes (drivers); the fat binaries in the wheels (capabilities of 2.10 to 2.17 and 2.20); tensorflow issues #90291, #97387, #103531
and #111958 (Blackwell). cusolver_reachable was measured with each wheel from 2.14 on and pip's directory layout.
The platforms of the wheels are from the file names on PyPI. ``tools/check_releases.py`` compares all that the index has.
"""

import msgspec

from gpucheck.core.compat import cuda, versions, wheels


class Release(msgspec.Struct, frozen=True):
    """One minor release; versions are strings, specifiers are PEP 440."""

    minor: str
    latest_patch: str
    python_min: str
    python_max: str
    glibc_floor: str
    cuda: str
    cuda_major: int
    cudnn: str  # a newer minor of the same major works too
    keras: str
    numpy: str
    protobuf: str
    cubins: tuple[int, ...]  # native code: 86 is compute capability 8.6
    ptx: int  # intermediate code for newer GPUs
    sonames: tuple[str, ...]  # all must load before TensorFlow registers a GPU; in loading order
    cusolver_reachable: bool  # False: pip's cuSOLVER is not on the search path of the library that opens it

    @property
    def wheel(self) -> wheels.Wheel:
        """The wheel for x86_64, as it was read."""
        return wheels.find("tensorflow", self.latest_patch)

    @property
    def and_cuda(self) -> tuple[str, ...]:
        """The requirements of tensorflow[and-cuda], from the metadata of its wheel; empty before the extra existed.

        They are ranges from 2.20 on: pip installs the newest packages for CUDA 12, with a cuDNN without code for old GPUs.
        """
        return wheels.of_extra("and-cuda", self.wheel)


LATEST = "2.21"
LAST_ON_WINDOWS = "2.10"  # later native Windows wheels are CPU only
CUDA_PLATFORMS = (("linux", "x86_64"),)  # the platforms of wheels with CUDA, after LAST_ON_WINDOWS

# (system, architecture) -> the first and the last minor with wheels; None: still built.
_PLATFORMS: dict[tuple[str, str], tuple[str, str | None]] = {
    ("linux", "x86_64"): ("2.10", None),
    ("linux", "aarch64"): ("2.10", None),
    ("win32", "x86_64"): ("2.10", None),
    ("darwin", "x86_64"): ("2.10", "2.16"),
    ("darwin", "arm64"): ("2.13", None),
}

# The last entry is cuDNN; cuFFT and cuSOLVER keep the number 11 under CUDA 12.
_SONAMES_CUDA_11 = (
    "libcudart.so.11.0",
    "libcublas.so.11",
    "libcublasLt.so.11",
    "libcufft.so.10",
    "libcusolver.so.11",
    "libcusparse.so.11",
    "libcudnn.so.8",
)
_SONAMES_CUDA_12 = (
    "libcudart.so.12",
    "libcublas.so.12",
    "libcublasLt.so.12",
    "libcufft.so.11",
    "libcusolver.so.11",
    "libcusparse.so.12",
    "libcudnn.so.8",
)
_SONAMES_CUDNN_9 = (*_SONAMES_CUDA_12[:-1], "libcudnn.so.9")

_NOT_PROTOBUF_4_21 = "!=4.21.0,!=4.21.1,!=4.21.2,!=4.21.3,!=4.21.4,!=4.21.5"

# Each release lists what changed since the previous one.
_2_10 = Release(
    minor="2.10",
    latest_patch="2.10.1",
    python_min="3.7",
    python_max="3.10",
    glibc_floor="2.17",
    cuda="11.2",
    cuda_major=11,
    cudnn="8.1",
    keras=">=2.10.0,<2.11",
    numpy=">=1.20",
    protobuf=">=3.9.2,<3.20",
    cubins=(35, 50, 60, 70, 75),
    ptx=80,
    sonames=_SONAMES_CUDA_11,
    cusolver_reachable=True,
)
_2_11 = msgspec.structs.replace(_2_10, minor="2.11", latest_patch="2.11.1", python_min="3.8", keras=">=2.11.0,<2.12")
_2_12 = msgspec.structs.replace(
    _2_11,
    minor="2.12",
    latest_patch="2.12.1",
    python_max="3.11",
    cuda="11.8",
    cudnn="8.6",
    keras=">=2.12.0,<2.13",
    numpy=">=1.22,<=1.24.3",
    protobuf=f">=3.20.3,<5.0.0dev,{_NOT_PROTOBUF_4_21}",
)
_2_13 = msgspec.structs.replace(_2_12, minor="2.13", latest_patch="2.13.1", keras=">=2.13.1,<2.14")
_2_14 = msgspec.structs.replace(
    _2_13,
    minor="2.14",
    latest_patch="2.14.1",
    python_min="3.9",
    cudnn="8.7",
    keras=">=2.14.0,<2.15",
    numpy=">=1.23.5,<2.0.0",
)
_2_15 = msgspec.structs.replace(
    _2_14,
    minor="2.15",
    latest_patch="2.15.1",
    cuda="12.2",
    cuda_major=12,
    cudnn="8.9",
    keras=">=2.15.0,<2.16",
    cubins=(50, 60, 70, 75),
    sonames=_SONAMES_CUDA_12,
)
_2_16 = msgspec.structs.replace(
    _2_15,
    minor="2.16",
    latest_patch="2.16.2",
    python_max="3.12",
    cuda="12.3",
    keras=">=3.0.0",
    cubins=(50, 60, 70, 80),
    ptx=90,
)
_2_17 = msgspec.structs.replace(_2_16, minor="2.17", latest_patch="2.17.1", keras=">=3.2.0", cubins=(60, 70, 80, 89))
_2_18 = msgspec.structs.replace(
    _2_17,
    minor="2.18",
    latest_patch="2.18.1",
    cuda="12.5",
    cudnn="9.3",
    keras=">=3.5.0",
    numpy=">=1.26.0,<2.1.0",
    protobuf=f">=3.20.3,<6.0.0dev,{_NOT_PROTOBUF_4_21}",
    sonames=_SONAMES_CUDNN_9,
)
_2_19 = msgspec.structs.replace(_2_18, minor="2.19", latest_patch="2.19.1", numpy=">=1.26.0,<2.2.0")
_2_20 = msgspec.structs.replace(
    _2_19,
    minor="2.20",
    latest_patch="2.20.0",
    python_max="3.13",
    keras=">=3.10.0",
    numpy=">=1.26.0",
    protobuf=">=5.28.0",
)
_2_21 = msgspec.structs.replace(
    _2_20,
    minor="2.21",
    latest_patch="2.21.0",
    python_min="3.10",
    glibc_floor="2.27",
    keras=">=3.12.0",
    protobuf=">=6.31.1,<8.0.0",
    cusolver_reachable=False,
)

RELEASES: dict[str, Release] = {
    known.minor: known for known in (_2_10, _2_11, _2_12, _2_13, _2_14, _2_15, _2_16, _2_17, _2_18, _2_19, _2_20, _2_21)
}

# The next release, of which there is a candidate: recognized if installed, and never suggested. It searches cuSOLVER's folder
# again. get_build_info() reports neither the version of CUDA nor that of cuDNN; cuDNN's is that of the extra and-cuda.
CANDIDATE = msgspec.structs.replace(
    _2_21,
    minor="2.22",
    latest_patch="2.22.0rc0",
    python_max="3.14",
    cudnn="9.10",
    keras=">=3.12.0.dev",
    cusolver_reachable=True,
)


def release(version: str) -> Release | None:
    """Return the entry for '2.21.0', '2.21' or '2.22.0rc0'; None for a release that is not in the table."""
    minor = versions.minor(version)
    return CANDIDATE if minor == CANDIDATE.minor else RELEASES.get(minor)


def recommended() -> str:
    """Return the release to install on an unknown machine: the newest that finds its CUDA libraries by itself."""
    newest = next(release for release in reversed(RELEASES.values()) if release.cusolver_reachable)
    return f"tensorflow[and-cuda]=={newest.minor}.*"


def for_python(python: str) -> Release | None:
    """Return the newest release with wheels for a Python ('3.12' or '3.12.3'); None if no release in the table has any."""
    requested = versions.parse(python)[:2]
    newest = reversed(RELEASES.values())
    return next((one for one in newest if versions.parse(one.python_min) <= requested <= versions.parse(one.python_max)), None)


def lowest_capability(release: Release) -> tuple[int, int]:
    """Return the minimum compute capability of a release; TensorFlow ignores GPUs below it."""
    return divmod(min(*release.cubins, release.ptx), 10)


def blackwell_problem(version: str) -> str | None:
    """Return what breaks on compute capability 10.0 and newer (Blackwell) with a release; None if unknown."""
    entry = release(version)
    if entry is None or entry is CANDIDATE:
        return None
    if entry.minor == "2.21":
        return "kernels wait for a slow PTX compilation, and XLA, which Keras 3 turns on by default, aborts"
    return "no native kernels, and the driver rejects the PTX of the generated ones (CUDA_ERROR_INVALID_PTX)"


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
    found = wheels.support(release.wheel, capability)
    return found.usable and found.native > found.compiled


def compiled_from_ptx(release: Release, capability: tuple[int, int]) -> bool:
    """Whether the wheel has code for the GPU, with a driver that is new enough to compile its PTX."""
    return wheels.support(release.wheel, capability).usable


def cuda_of_ptx(release: Release, capability: tuple[int, int]) -> str:
    """Return the CUDA whose driver can compile the wheel's PTX for this GPU: '12.5' for 2.21 on 9.0."""
    newest = wheels.support(release.wheel, capability).ptx
    return cuda.cuda_of_ptx(newest) if newest else release.cuda
