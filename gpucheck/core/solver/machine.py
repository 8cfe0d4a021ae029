"""What an answer depends on: the machine, and what the user wishes. None is unknown, which never excludes a release."""

from dataclasses import dataclass

from gpucheck.core.compat import cuda, gpus, versions


@dataclass(frozen=True, kw_only=True)
class Python:
    """A Python that could hold the environment."""

    version: str  # "3.12.3" or "3.12"
    executable: str | None = None  # None: not on this machine; uv or conda can fetch it
    has_venv: bool | None = None  # False: its venv module can't make environments (Debian's python3-venv is missing)


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """An NVIDIA GPU."""

    name: str | None = None
    capability: tuple[int, int] | None = None

    @property
    def title(self) -> str:
        """'NVIDIA H200 (compute capability 9.0)'."""
        if self.capability is None:
            return self.name or "a GPU of unknown kind"
        number = "compute capability " + ".".join(map(str, self.capability))
        architecture = gpus.architecture(self.capability)
        return f"{self.name} ({number})" if self.name else f"{number} ({architecture})" if architecture else number


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What is known of a machine."""

    system: str = "linux"  # as sys.platform: "linux", "darwin", "win32"
    architecture: str | None = "x86_64"  # "aarch64"; macOS says "arm64"
    os_name: str | None = None
    glibc: str | None = None
    musl: bool | None = None
    wsl: bool = False  # WSL2: the driver is the Windows one
    driver: str | None = None  # "580.159.04"
    gpus: tuple[Gpu, ...] | None = ()  # (): none; None: nobody could say
    tpu: str | None = None  # generation, "v5e"
    pythons: tuple[Python, ...] | None = ()  # None: nobody looked, so any Python may be there
    silent: tuple[str, ...] = ()  # folders in which Pythons may lie, and whose file systems do not answer
    uv: bool | None = None  # whether uv is installed

    @property
    def cuda(self) -> str | None:
        """The newest CUDA that the driver supports."""
        return cuda.cuda_of_driver(self.driver) if self.driver else None

    @property
    def kinds(self) -> tuple[tuple[tuple[int, int], Gpu], ...]:
        """Each compute capability here with a GPU that has it, the oldest first; what is unknown is left out."""
        gpus_by_capability = {gpu.capability: gpu for gpu in reversed(self.gpus or ()) if gpu.capability is not None}
        return tuple(sorted(gpus_by_capability.items(), key=lambda kind: kind[0]))

    def driver_reaches(self, lowest: str) -> bool:
        """Whether the driver is that one or newer, as far as its number is known: '525.60' may be 525.60.13."""
        driver = versions.parse(self.driver or "")
        return versions.parse(lowest)[: len(driver)] <= driver


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user asked for."""

    tensorflow: str | None = None  # a PEP 440 specifier: ">=2.16,<2.20"
    backend: str = "tensorflow"
    python: Python | None = None  # this one and no other
    cpu: bool = False  # do without the GPU
