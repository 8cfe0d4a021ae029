"""The reasons why a TensorFlow release does not work on a machine: one function each, with its source.

Each takes a release and a machine, and returns why it does not work, or None. An unknown property excludes nothing.
"""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.compat import gpus as gpu_tables
from gpucheck.core.compat import images, tensorflow, vendors, versions
from gpucheck.core.compat.frameworks import Build, CpuBuild
from gpucheck.core.compat.gpus import FIRST_BLACKWELL
from gpucheck.core.compat.tensorflow import Release
from gpucheck.core.solver.answer import Reason
from gpucheck.core.solver.machine import Machine, Python

PYPI = "https://pypi.org/project/tensorflow/#files"
INSTALL = "https://www.tensorflow.org/install/pip"
TESTED_BUILDS = "https://www.tensorflow.org/install/source#gpu"
MINOR_COMPATIBILITY = "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html"
RELEASE_NOTES = "https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html"
LEGACY_GPUS = "https://forums.developer.nvidia.com/t/current-graphics-driver-releases/28500"
BLACKWELL = "https://github.com/tensorflow/tensorflow/issues/111958"

SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
_USUAL_GLIBC = "2.28"  # the minimum for the newest wheels of NumPy, h5py, ml-dtypes and optree
ONLY_WHEELS = "--only-binary=:all:"

Constraint = Callable[[Release, Machine], Reason | None]


def platform(release: Release, machine: Machine) -> Reason | None:
    """Check that the release has packages for the system, the processor and the C library."""
    packaged = machine.architecture is None or tensorflow.has_wheels(release, machine.system, machine.architecture)
    return unsupported(machine, packaged, PYPI, avx=INSTALL)


def unsupported(machine: Machine, packaged: bool, source: str, avx: str | None) -> Reason | None:
    """Return why packages do not work on a system and processor.

    Args:
        machine: the target.
        packaged: whether there are packages for it.
        source: the source of ``packaged``.
        avx: the source for their use of AVX, which processors from before 2011 do not have; None: they do without it.
    """
    if machine.musl:
        text = "its packages need glibc, and this Linux has musl"
    elif machine.avx is False and avx is not None:
        text = (
            "its packages use AVX instructions, which this processor does not have: build it from source, or use another machine"
        )
        source = avx
    elif packaged:
        return None
    else:
        text = f"it has no packages for {SYSTEMS.get(machine.system, machine.system)} on {machine.architecture}"
    return Reason(kind="platform", text=text, source=source)


def glibc(release: Release, machine: Machine) -> Reason | None:
    """Check that the C library is new enough for the wheel's tag."""
    return old_glibc(release.glibc_floor, machine, PYPI)


def old_glibc(lowest: str | None, machine: Machine, source: str, what: str = "it") -> Reason | None:
    """Return why the C library is too old for software that needs at least ``lowest``."""
    if lowest is None or machine.system != "linux" or machine.glibc is None or versions.at_least(machine.glibc, lowest):
        return None
    text = f"{what} needs glibc {lowest} or newer, and this system has {machine.glibc}"
    return Reason(kind="glibc", text=text, source=source, needs=lowest)


def cuda_build(release: Release, machine: Machine) -> Reason | None:
    """Check that the packages for this platform can use NVIDIA GPUs, and that pip installs the CUDA libraries."""
    architecture = machine.architecture or "x86_64"
    if not tensorflow.has_cuda(release, machine.system, architecture):
        name = SYSTEMS.get(machine.system, machine.system)
        where = f"{name} on {architecture}" if machine.system == "linux" else name
        return Reason(kind="platform", text=f"its packages for {where} cannot use an NVIDIA GPU", source=INSTALL)
    if not release.and_cuda and machine.system != "win32":  # on Windows conda brings them
        text = f"pip does not install its CUDA {release.cuda} libraries: it does so only for releases from 2.14 on"
        return Reason(kind="platform", text=text, source=PYPI)
    return None


def jetson(release: Release, machine: Machine) -> Reason | None:
    """Check that the machine is not a Jetson, whose GPU the packages on PyPI don't support."""
    if not machine.jetson:
        return None
    return Reason(kind="gpu", text="its packages on PyPI can't use a Jetson's GPU", source=vendors.JETSON_GUIDE)


def lowest_driver(release: Release, machine: Machine) -> str:
    """Return the minimum driver of a release; on Windows and in WSL2, the minimum Windows driver."""
    return cuda_tables.LOWEST_DRIVER[release.cuda_major][machine.windows_driver]


def driver(release: Release, machine: Machine) -> Reason | None:
    """Check that the driver runs the CUDA major version that the release was built with."""
    lowest = lowest_driver(release, machine)
    if machine.driver is None or machine.driver_reaches(lowest):
        return None
    needs = f"CUDA {release.cuda_major} needs driver {lowest} or newer"
    newest = _newest_cuda(machine)
    same = newest.partition(".")[0] == str(release.cuda_major)
    text = f"{needs}; this driver is {machine.driver}" if same else f"driver {machine.driver} runs CUDA up to {newest}; {needs}"
    return Reason(kind="driver", text=text, source=MINOR_COMPATIBILITY, needs=lowest)


def _newest_cuda(machine: Machine) -> str:
    """Return the newest CUDA that a driver runs by minor version compatibility: 470.57 supports 11.4, but runs up to 11.8."""
    newest = machine.cuda or "9"
    major = int(newest.partition(".")[0])
    compatible = major in _LAST_MINOR and machine.driver_reaches(cuda_tables.LOWEST_DRIVER[major][machine.windows_driver])
    return _LAST_MINOR[major] if compatible else newest


_LAST_MINOR = {11: "11.8", 12: "12.9"}


def kernels(release: Release, machine: Machine) -> Reason | None:
    """Check that the release has code for every GPU: machine code, or PTX that this driver can compile."""
    for capability, gpu in machine.kinds:
        if capability >= FIRST_BLACKWELL or tensorflow.is_native(release, capability):
            continue
        if not tensorflow.compiled_from_ptx(release, capability):
            lowest = ".".join(map(str, tensorflow.lowest_capability(release)))
            text = f"it has no code for {gpu.title}; the lowest supported is {lowest}"
            return Reason(kind="gpu", text=text, source=TESTED_BUILDS)
        reason = _compiling(release, machine, capability, gpu.title)
        if reason is not None:
            return reason
    return None


def _compiling(release: Release, machine: Machine, capability: tuple[int, int], title: str) -> Reason | None:
    """Return why this driver can't compile the release's PTX for a GPU, which minor version compatibility does not cover."""
    needed = tensorflow.cuda_of_ptx(release, capability)
    branch = cuda_tables.branch_of_cuda(needed)
    if machine.cuda is None or branch is None or versions.at_least(machine.cuda, needed):
        return None
    text = f"most of its code for {title} is PTX of CUDA {needed}, which driver {machine.driver} cannot compile"
    return Reason(kind="driver", text=text, source=MINOR_COMPATIBILITY, needs=branch)


def blackwell(release: Release, machine: Machine) -> Reason | None:
    """Check for Blackwell GPUs: no wheel up to 2.21 has machine code for them, and the code compiled from PTX fails."""
    problem = tensorflow.blackwell_problem(release.minor)
    for capability, gpu in machine.kinds:
        if capability >= FIRST_BLACKWELL and problem is not None:
            return Reason(kind="gpu", text=f"on {gpu.title}: {problem}", source=BLACKWELL)
    return None


def options(machine: Machine) -> tuple[str, ...]:
    """Return pip's options. Without this one, pip compiles the newest dependencies if they have no wheels for the glibc."""
    old = machine.system == "linux" and machine.glibc is not None and not versions.at_least(machine.glibc, _USUAL_GLIBC)
    return (ONLY_WHEELS,) if old else ()


def has_packages(release: Release | Build | CpuBuild, candidate: Python) -> bool:
    """Whether a release, or another framework's build, supports that Python."""
    minor = versions.minor(candidate.version)
    return versions.at_least(minor, release.python_min) and versions.at_least(release.python_max, minor)


def python_reason(release: Release, pythons: tuple[Python, ...]) -> Reason:
    """Return why none of these Pythons works: the supported versions, and the available ones."""
    newest = max((versions.parse(candidate.version)[:2] for candidate in pythons), default=())
    too_old = bool(newest) and newest < versions.parse(release.python_min)
    here = ", ".join(sorted({versions.minor(candidate.version) for candidate in pythons}, key=versions.parse))
    this = f"and this is {here}" if here else "and no Python was found"
    return Reason(
        kind="python",
        text=f"it supports Python {release.python_min} to {release.python_max}, {this}",
        source=PYPI,
        needs=release.python_min if too_old else release.python_max,
    )


def driver_for_gpus(machine: Machine) -> Reason | None:
    """Check that the driver supports the GPUs: NVIDIA adds and drops an architecture with a driver branch."""
    parsed = versions.parse(machine.driver or "")
    if not parsed:
        return None
    branch = parsed[0]
    for capability, gpu in machine.kinds:
        last = cuda_tables.LAST_BRANCH.get(gpu_tables.architecture(capability) or "")
        if last is not None and branch > last:
            text = f"driver {machine.driver} does not work with {gpu.title}; {last} is the last branch that does"
            return Reason(kind="driver", text=text, source=LEGACY_GPUS, needs=str(last))
        first = cuda_tables.first_branch(capability)
        if first is not None and branch < int(first):
            text = f"driver {machine.driver} does not support {gpu.title}, which needs driver {first} or newer"
            return Reason(kind="driver", text=text, source=RELEASE_NOTES, needs=first)
    return None


def drivers(machine: Machine) -> list[str]:
    """Return the newer drivers that make another release work, oldest first."""
    exact = [lowest[machine.windows_driver] for lowest in cuda_tables.LOWEST_DRIVER.values()]
    branches = [str(branch) for branch, _ in cuda_tables.BRANCHES]
    known = sorted([*exact, *branches, images.LOWEST_DRIVER[machine.windows_driver]], key=versions.parse)
    return [need for need in known if machine.driver is None or not versions.at_least(machine.driver, need)]


def with_driver(machine: Machine, need: str) -> Machine:
    """Return the machine with that driver, or with the first driver of a branch ('570')."""
    return replace(machine, driver=need if "." in need else f"{need}.0")


def driver_words(machine: Machine, need: str) -> str:
    """Describe a driver: 'driver 570 or newer', or 'a driver of branch 580' if the current one is newer; in WSL2 also where."""
    side = ", on Windows' side" if machine.wsl else ""
    if machine.driver is not None and versions.at_least(machine.driver, need):
        return f"a driver of branch {need}{side}"
    return f"driver {need} or newer{side}"


# Reasons that the user can't change come first: users see the first one.
ALWAYS: tuple[Constraint, ...] = (platform, glibc)
WITH_GPU: tuple[Constraint, ...] = (platform, jetson, cuda_build, blackwell, kernels, driver, glibc)


def reasons(release: Release, machine: Machine, with_gpu: bool) -> Iterator[Reason]:
    """Yield every reason except Python's version."""
    for constraint in WITH_GPU if with_gpu else ALWAYS:
        reason = constraint(release, machine)
        if reason is not None:
            yield reason
