"""The input of the solver: the machine, also from the facts of probes, and the user's requirements.

None means unknown, which never excludes a release.
"""

import msgspec

from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.compat import gpus as gpu_tables
from gpucheck.core.compat import versions
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.pci import ACCELERATOR, Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.wsl import Wsl


class Python(msgspec.Struct, frozen=True, kw_only=True):
    """A Python interpreter for the environment."""

    version: str  # "3.12.3" or "3.12"
    executable: str | None = None  # None: not on this machine; uv or conda can fetch it
    has_venv: bool | None = None  # False: its venv module can't create environments (Debian's python3-venv is missing)


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """An NVIDIA GPU."""

    name: str | None = None
    capability: tuple[int, int] | None = None

    @property
    def title(self) -> str:
        """'NVIDIA H200 (compute capability 9.0)'."""
        if self.capability is None:
            return self.name or "a GPU of unknown kind"
        number = "compute capability " + ".".join(map(str, self.capability))
        architecture = gpu_tables.architecture(self.capability)
        return f"{self.name} ({number})" if self.name else f"{number} ({architecture})" if architecture else number


class OtherGpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU that is not NVIDIA's."""

    vendor: str  # "amd", "apple", "intel"
    name: str | None = None
    chip: str | None = None  # AMD's name of the architecture, "gfx942"; None: unknown
    accelerator: bool = False  # definitely not integrated: its PCI class is accelerator, not display

    @property
    def title(self) -> str:
        """'AMD Instinct MI300X (gfx942)'."""
        name = self.name or f"{VENDORS[self.vendor]} GPU"
        return f"{name} ({self.chip})" if self.chip else name


VENDORS = {"amd": "AMD", "apple": "Apple", "intel": "Intel"}


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The known properties of a machine."""

    system: str = "linux"  # as sys.platform: "linux", "darwin", "win32"
    architecture: str | None = "x86_64"  # "aarch64"; "arm64" on macOS
    os_name: str | None = None
    avx: bool | None = None  # whether an x86_64 processor has these instructions
    glibc: str | None = None
    musl: bool | None = None
    wsl: bool = False  # WSL2: the driver is Windows' driver
    driver: str | None = None  # "580.159.04"
    gpus: tuple[Gpu, ...] | None = ()  # NVIDIA's; (): none; None: unknown
    others: tuple[OtherGpu, ...] = ()  # other vendors'
    tpu: str | None = None  # generation, "v5e"
    pythons: tuple[Python, ...] | None = ()  # None: not searched, so any version may be installed
    silent: tuple[str, ...] = ()  # folders that could not be searched: their file systems do not respond
    uv: bool | None = None  # whether uv is installed
    jetpack: str | None = None  # of a Jetson: "6"
    # Properties that a description does not give: "driver"; None: the machine was examined.
    left_open: tuple[str, ...] | None = None

    @property
    def lacks_driver(self) -> bool:
        """Whether the machine has no NVIDIA driver. If a description does not give it, it may have one."""
        return self.driver is None and "driver" not in (self.left_open or ())

    @property
    def windows_driver(self) -> bool:
        """Whether the NVIDIA driver is one for Windows, whose versions differ from those for Linux."""
        return self.wsl or self.system == "win32"

    @property
    def jetson(self) -> bool:
        """Whether it is a Jetson, which needs NVIDIA's own driver and packages for Jetson."""
        return any(capability in gpu_tables.JETSON for capability, _ in self.kinds)

    @property
    def cuda(self) -> str | None:
        """The newest CUDA that the driver supports."""
        return cuda_tables.cuda_of_driver(self.driver) if self.driver else None

    @property
    def kinds(self) -> tuple[tuple[tuple[int, int], Gpu], ...]:
        """Each known compute capability with a GPU that has it, oldest first."""
        gpus_by_capability = {gpu.capability: gpu for gpu in reversed(self.gpus or ()) if gpu.capability is not None}
        return tuple(sorted(gpus_by_capability.items(), key=lambda kind: kind[0]))

    def lacks(self, python: Python) -> bool:
        """Whether a Python for the environment is not on this machine, so that uv or conda fetches it."""
        return python.executable is None and self.pythons is not None and python not in self.pythons

    def driver_reaches(self, lowest: str) -> bool:
        """Whether the driver is that version or newer; a partial version matches: '525.60' may be 525.60.13."""
        driver = versions.parse(self.driver or "")
        return versions.parse(lowest)[: len(driver)] <= driver


class Requirements(msgspec.Struct, frozen=True, kw_only=True):
    """The user's requirements."""

    tensorflow: str | None = None  # a PEP 440 specifier: ">=2.16,<2.20"
    backend: str = "tensorflow"
    python: Python | None = None  # only this one
    cpu: bool = False  # don't use a GPU


def machine(
    system: System | None,
    wsl: Wsl | None = None,
    driver: Driver | None = None,
    gpus: Gpus | None = None,
    cuda: Cuda | None = None,
    tpu: Tpu | None = None,
    pci: Pci | None = None,
    *,
    has_gpu: bool | None = None,
    pythons: tuple[Python, ...] | None = None,
) -> Machine:
    """Combine the facts of probes, for ``gpucheck setup`` and for rules; each may be missing.

    Args:
        system: the operating system.
        wsl: Windows Subsystem for Linux.
        driver: the driver, from NVML.
        gpus: NVML's GPUs.
        cuda: CUDA's GPUs, if NVML has none.
        tpu: TPU chips.
        pci: the bus, which shows AMD's GPUs.
        has_gpu: whether there is an NVIDIA GPU (from the combiner GpuPresence); None: unknown.
        pythons: interpreters usable for an environment; None: not searched.
    """
    generations = tpu.generations if tpu is not None else ()
    return Machine(
        system=system.platform if system else "linux",
        architecture=system.architecture if system else None,
        os_name=system.os_name if system else None,
        glibc=system.glibc if system else None,
        musl=system.musl if system else None,
        wsl=bool(wsl is not None and wsl.inside),
        driver=_version(driver),
        gpus=() if has_gpu is False else _gpus(gpus, cuda) or ((Gpu(),) if has_gpu else None),
        others=tuple(
            OtherGpu(vendor="amd", accelerator=(gpu.class_code or "").startswith(ACCELERATOR))
            for gpu in (pci.amd_gpus if pci is not None else ())
        ),
        tpu=generations[0] if generations else "unknown" if tpu is not None and tpu.nodes else None,
        pythons=pythons,
    )


def _version(driver: Driver | None) -> str | None:
    version = driver.version if driver is not None else None
    return version if version and versions.parse(version) else None


def _gpus(gpus: Gpus | None, cuda: Cuda | None) -> tuple[Gpu, ...]:
    """Return NVML's list if there is one, because it includes GPUs that CUDA_VISIBLE_DEVICES hides."""
    listed = gpus.gpus if gpus and gpus.gpus else cuda.devices if cuda else ()
    return tuple(Gpu(capability=gpu.compute_capability, name=gpu.name) for gpu in listed)
