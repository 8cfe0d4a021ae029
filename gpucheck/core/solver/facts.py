"""Build the solver's machine from the facts of probes, for `gpucheck setup` and for rules."""

from gpucheck.core.compat import versions
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.pci import ACCELERATOR, Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.solver.machine import Gpu, Machine, OtherGpu, Python


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
    """Combine the facts; each may be missing.

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
    """NVML's list if there is one: it includes GPUs that CUDA_VISIBLE_DEVICES hides."""
    listed = gpus.gpus if gpus and gpus.gpus else cuda.devices if cuda else ()
    return tuple(Gpu(capability=gpu.compute_capability, name=gpu.name) for gpu in listed)
