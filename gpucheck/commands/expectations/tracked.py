"""The values that are compared between two reports, by group and name.

Values that differ between runs or jobs by design are omitted: temperatures, clocks, free memory, process ids, folders,
ranks.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from gpucheck.core.expectations import steady
from gpucheck.core.expectations.gpus import GIB
from gpucheck.core.model import Fact, Report, probe_of
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.libraries import CudaTool, Libraries, Library
from gpucheck.core.probes.limits import Limits
from gpucheck.core.probes.packages import Distribution, Packages
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tensorflow import TensorFlow


class Tracked(NamedTuple):
    """One value as text; with a number, differences within the tolerance of speeds are ignored."""

    words: str
    probes: tuple[str, ...]  # compared only if both runs have these facts
    number: float | None = None
    coarse: str | None = None  # the text without the version, which some runs do not read (``--quick``)

    @property
    def vague(self) -> bool:
        """Whether its version is unknown."""
        return self.words == self.coarse


Entry = tuple[str, str, Tracked]  # group, what, value

# Differ by design between jobs, ranks and workers.
_PER_JOB = """
CLOUD_TPU_TASK_ID CONDA_PREFIX SLURMD_NODENAME SLURM_JOB_GPUS SLURM_JOB_ID SLURM_JOB_NODELIST SLURM_LOCALID
SLURM_NODEID SLURM_NODELIST SLURM_PROCID SLURM_STEP_GPUS SLURM_STEP_NODELIST TPU_WORKER_ID VIRTUAL_ENV
"""
PER_JOB = frozenset(_PER_JOB.split())


def tracked(report: Report) -> dict[tuple[str, str], Tracked]:
    """Return all known values by group and name."""
    return {(group, what): value for look in _LOOKS for group, what, value in look(report)}


def _driver(report: Report) -> Iterator[Entry]:
    group = "driver and CUDA"
    yield from _fields(group, report.fact(Driver), {"status": "NVML", "version": "NVIDIA driver"})
    yield from _fields(group, report.fact(KernelModule), {"version": "kernel module", "open_source": "open kernel module"})
    yield from _fields(group, report.fact(Cuda), {"status": "libcuda", "driver_version": "the driver's CUDA"})


def _frameworks(report: Report) -> Iterator[Entry]:
    group, packages, tensorflow = "TensorFlow and Keras", report.fact(Packages), report.fact(TensorFlow)
    for name, label in (("tensorflow", "TensorFlow"), ("keras", "Keras"), ("tf_keras", "tf-keras"), ("libtpu", "libtpu")):
        installed: Distribution | None = getattr(packages, name, None)
        if installed:
            other_name = "" if installed.name.replace("-", "_") == name else f" ({installed.name})"
            yield group, label, Tracked(installed.version + other_name, ("packages",))
    yield from _fields(group, tensorflow, {"imported": "import tensorflow succeeds", "built_with_cuda": "built with CUDA"})
    if tensorflow and tensorflow.devices is not None:
        kinds = [device.kind for device in tensorflow.devices]
        words = ", ".join(f"{kinds.count(kind)} × {kind}" for kind in sorted(set(kinds))) or "none"
        yield group, "devices that TensorFlow lists", Tracked(words, ("tensorflow",))
    labels = {"imported": "import keras succeeds", "backend": "Keras backend", "legacy": "tf.keras is Keras 2"}
    yield from _fields(group, report.fact(Keras), labels)


def _libraries(report: Report) -> Iterator[Entry]:
    group, fact, packages = "libraries", report.fact(Libraries), report.fact(Packages)
    if fact:
        for library in fact.libraries:
            yield group, library.soname, _file(library, f" from {library.source}" if library.source else "")
        if fact.tensorflow:
            yield group, "ptxas", _file(fact.ptxas)
            yield group, "libdevice", _file(fact.libdevice)
    yield from _installed(group, packages.nvidia if packages else ())


def _file(file: Library | CudaTool, source: str = "") -> Tracked:
    if not file.path:
        return Tracked("not found", ("libraries",))
    return Tracked(f"{file.version or 'found'}{source}", ("libraries",), coarse=f"found{source}")


def _installed(group: str, distributions: Sequence[Distribution]) -> Iterator[Entry]:
    for distribution in distributions:
        yield group, distribution.name, Tracked(distribution.version, ("packages",))


def _python(report: Report) -> Iterator[Entry]:
    group, packages = "Python and packages", report.fact(Packages)
    yield from _fields(group, report.fact(Interpreter), {"version": "Python", "implementation": "Python implementation"})
    yield from _installed(group, packages.others if packages else ())
    labels = {"os_name": "operating system", "kernel": "kernel", "glibc": "glibc", "architecture": "architecture"}
    yield from _fields(group, report.fact(System), labels)


def _hardware(report: Report) -> Iterator[Entry]:
    group, pci, gpus, cuda, limits = "hardware", report.fact(Pci), report.fact(Gpus), report.fact(Cuda), report.fact(Limits)
    counts = {
        "pci": ("NVIDIA GPUs on the PCI bus", len(pci.gpus) if pci else None),
        "gpus": ("GPUs that the driver lists", len(gpus.gpus) if gpus else None),
        "cuda": ("GPUs that CUDA lists", cuda.device_count if cuda else None),
    }
    for probe, (label, count) in counts.items():
        if count is not None:
            yield group, label, Tracked(str(count), (probe,))
    for gpu in gpus.gpus if gpus else ():
        yield from _gpu(group, gpu)
    yield from _fields(group, limits, {"cpu_count": "processors"})
    if limits and limits.memory_total_bytes:
        yield group, "memory", Tracked(f"{limits.memory_total_bytes / GIB:.0f} GiB", ("limits",))


def _gpu(group: str, gpu: Gpu) -> Iterator[Entry]:
    label = f"GPU {gpu.index}"
    fields = {
        "name": "",
        "problem": " problem",
        "ecc_enabled": " ECC",
        "compute_mode": " compute mode",
        "mig_enabled": " MIG",
        "mig_devices": " MIG devices",
        "pcie_width_max": " PCIe lanes",
        "pcie_generation_max": " PCIe generation",
        "power_limit_watts": " power limit in W",
        "fabric_state": " NVSwitch fabric",
    }
    yield from _fields_of_part(group, "gpus", gpu, {name: label + words for name, words in fields.items()})
    if gpu.memory_total_bytes:
        yield group, f"{label} memory", Tracked(f"{gpu.memory_total_bytes / GIB:.1f} GiB", ("gpus",))
    if gpu.compute_capability:
        yield group, f"{label} compute capability", Tracked(".".join(map(str, gpu.compute_capability)), ("gpus",))
    if gpu.nvlinks:
        active = sum(link.active for link in gpu.nvlinks)
        yield group, f"{label} NVLinks", Tracked(f"{active} of {len(gpu.nvlinks)} active", ("gpus",))


def _environment(report: Report) -> Iterator[Entry]:
    environment = report.fact(Environment)
    for name, value in (environment.variables if environment else {}).items():
        if name not in PER_JOB:
            yield "environment variables", name, Tracked(f'"{value}"', ("environment",))


def _limits(report: Report) -> Iterator[Entry]:
    group, limits = "limits", report.fact(Limits)
    counts = {
        "cpu_affinity_count": "processors this process may use",
        "cpu_quota": "processors granted by the control group",
        "open_files": "open files",
        "processes": "processes",
        "processes_cgroup": "tasks granted by the control group",
        "home_writable": "home is writable",
        "kernel_cache_writable": "cache of compiled kernels is writable",
    }
    yield from _fields(group, limits, counts)
    sizes = {
        "memory_limit_bytes": "memory granted by the control group",
        "shared_memory_total_bytes": "/dev/shm",  # noqa: S108 - a name
        "address_space_bytes": "address space",
    }
    for name, label in sizes.items():
        if (size := getattr(limits, name, None)) is not None:
            yield group, label, Tracked(f"{size / GIB:.3g} GiB", ("limits",))


def _training(report: Report) -> Iterator[Entry]:
    group = "training speed"
    for run in report.training:
        if run.cross_device:
            continue  # a diagnostic run after another run failed
        place = devices(run.devices) or "no device"
        label = f"{run.strategy} on {place} in {run.precision}{', compiled by XLA' if run.compiled else ''}"
        yield group, label, Tracked(run.status.replace("_", " "), ("training",))
        if (speed := run.samples_per_second) is not None and steady(run.devices):
            yield group, f"{label}, samples/s", Tracked(f"{speed:,.4g}", ("training",), speed)


def _fields(group: str, fact: Fact | None, labels: dict[str, str]) -> Iterator[Entry]:
    """Yield the known fields of a fact."""
    if fact is not None:
        yield from _fields_of_part(group, probe_of(type(fact)), fact, labels)


def _fields_of_part(group: str, probe: str, part: msgspec.Struct, labels: dict[str, str]) -> Iterator[Entry]:
    """Yield the known fields of a fact of ``probe``, or of a part of it."""
    for name, label in labels.items():
        value = getattr(part, name)
        if value is not None:
            words = str(value) if not isinstance(value, bool) else "yes" if value else "no"
            yield group, label, Tracked(words, (probe,))


_LOOKS = (_driver, _frameworks, _libraries, _python, _hardware, _environment, _limits, _training)
