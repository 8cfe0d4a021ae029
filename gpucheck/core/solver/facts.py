"""The machine of an answer, from the facts that probes read. Rules that ask the solver make theirs here, too."""

from gpucheck.core.compat import versions
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.solver.machine import Gpu, Machine, Python


def machine(
    system: System | None,
    wsl: Wsl | None = None,
    driver: Driver | None = None,
    gpus: Gpus | None = None,
    cuda: Cuda | None = None,
    tpu: Tpu | None = None,
    *,
    here: bool | None = None,
    pythons: tuple[Python, ...] | None = None,
    silent: tuple[str, ...] = (),
    uv: bool | None = None,
) -> Machine:
    """Put the facts together; each may be missing.

    Args:
        system: the operating system.
        wsl: of Windows Subsystem for Linux.
        driver: what NVML says.
        gpus: NVML's GPUs.
        cuda: CUDA's GPUs, where NVML has none.
        tpu: chips.
        here: whether an NVIDIA GPU is here (the combiner GpuPresence says so); None: nobody could say.
        pythons: those that could hold an environment; None: nobody looked.
        silent: folders that could not be looked into for them.
        uv: whether uv is installed.
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
        gpus=() if here is False else _gpus(gpus, cuda) or ((Gpu(),) if here else None),
        tpu=generations[0] if generations else "unknown" if tpu is not None and tpu.nodes else None,
        pythons=pythons,
        silent=silent,
        uv=uv,
    )


def _version(driver: Driver | None) -> str | None:
    version = driver.version if driver is not None else None
    return version if version and versions.parse(version) else None


def _gpus(gpus: Gpus | None, cuda: Cuda | None) -> tuple[Gpu, ...]:
    """NVML's list first: it has those that CUDA_VISIBLE_DEVICES hides, too."""
    listed = [Gpu(capability=gpu.compute_capability, name=gpu.name) for gpu in (gpus.gpus if gpus else ())]
    return tuple(
        listed or [Gpu(capability=device.compute_capability, name=device.name) for device in (cuda.devices if cuda else ())]
    )
