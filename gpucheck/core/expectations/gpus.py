"""Expected GPUs: their number, model and memory."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from gpucheck.core.compat import versions
from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE
from gpucheck.core.compat.nvml import HANDLE_LOST, WITHOUT_GPU
from gpucheck.core.expectations.items import Item, Machine
from gpucheck.core.model import Evidence, Expectations, PromisedGpus, saw
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus

GIB = 1 << 30


def gpu_count(machine: Machine) -> Iterator[Item]:
    """Yield how many GPUs this process can use."""
    expected, promised = machine.expected.gpu.count, machine.request.promised
    if promised is not None:
        yield _scheduled(machine, promised)
    if expected is None:
        return
    count, evidence = usable_gpus(machine)
    words = machine.why_not(Cuda) if count is None else str(count)
    yield Item("number of GPUs", str(expected), words, None if count is None else count == expected, evidence)


def _scheduled(machine: Machine, promised: PromisedGpus) -> Item:
    """Whether the node has as many GPUs as its scheduler allocates. More is not a fault: a site may reserve one."""
    if promised.count is None:
        return Item("number of GPUs", "what the scheduler allocates", promised.source, None)
    gpus, driver = machine.get(Gpus), machine.get(Driver)
    expected = f"at least {promised.count} ({promised.source})"
    refused = driver is not None and driver.status == "failed" and driver.result not in WITHOUT_GPU
    if gpus is None or driver is None or refused or driver.status in ("hung", "crashed"):
        return Item("number of GPUs", expected, machine.why_not(Gpus), None if promised.count else True)
    # NVML's count: CUDA shows a process at most one MIG device.
    count = sum(gpu.mig_devices or 0 if gpu.mig_enabled else 1 for gpu in gpus.gpus if gpu.problem is None)
    unread = sum(gpu.problem is not None and gpu.result not in HANDLE_LOST for gpu in gpus.gpus)
    if count < promised.count <= count + unread:
        return Item("number of GPUs", expected, f"unknown: NVML could not describe {unread} of {len(gpus.gpus)}", None)
    return Item("number of GPUs", expected, str(count), count >= promised.count, saw(driver, "gpu_count"))


def usable_gpus(machine: Machine) -> tuple[int | None, tuple[Evidence, ...]]:
    """Return how many GPUs this process can use (None: could not be observed), and the evidence."""
    cuda, gpus = machine.get(Cuda), machine.get(Gpus)
    if cuda is not None and cuda.device_count is not None:
        return cuda.device_count, saw(cuda, "device_count")
    if cuda is not None and (cuda.status == "library-not-found" or cuda.result == CUDA_ERROR_NO_DEVICE):
        return 0, saw(cuda, "status")
    if gpus is not None and gpus.gpus:
        return sum(gpu.problem is None for gpu in gpus.gpus), saw(gpus, "gpus")
    return None, ()


def gpu_models(machine: Machine) -> Iterator[Item]:
    """Yield name, memory and compute capability of every GPU; nothing without a GPU, which ``gpu_count`` reports."""
    expectations, gpus, cuda = machine.expected.gpu, machine.get(Gpus), machine.get(Cuda)
    if not expectations.names and expectations.memory_gib is None and expectations.compute_capability is None:
        return
    source, items = (gpus, gpus.gpus) if gpus is not None and gpus.gpus else (cuda, cuda.devices if cuda is not None else ())
    field = "gpus" if source is gpus else "devices"
    if source is None or not items:
        if usable_gpus(machine)[0] != 0:
            yield Item("GPUs", "a specific model", machine.why_not(Gpus), None)
        return
    for place, gpu in enumerate(items):
        label = f"GPU {getattr(gpu, 'index', getattr(gpu, 'ordinal', place))}"
        for name, expected, is_met, words in _gpu_comparisons(machine.expected):
            value = getattr(gpu, name)
            unknown = f"unknown: {getattr(gpu, 'problem', None) or 'not reported by the driver'}"
            observed, met = (unknown, None) if value is None else (words(value), is_met(value))
            yield Item(label, expected, observed, met, saw(source, f"{field}[{place}].{name}"), (label,))


Comparison = tuple[str, str, Callable[[Any], bool], Callable[[Any], str]]  # field, expected, met, in words


def _gpu_comparisons(expectations: Expectations) -> Iterator[Comparison]:
    expected = expectations.gpu
    if expected.names:
        names = expected.names
        yield "name", " or ".join(names), lambda name: name in names or any(fnmatchcase(name, each) for each in names), str
    if expected.memory_gib is not None:
        least = expected.memory_gib
        yield (
            "memory_total_bytes",
            f"at least {least:g} GiB of memory",
            lambda size: bool(size >= least * GIB),
            lambda size: f"{size / GIB:.1f} GiB of memory",
        )
    if expected.compute_capability is not None:
        lowest = versions.parse(expected.compute_capability)
        yield (
            "compute_capability",
            f"compute capability {expected.compute_capability} or higher",
            lambda pair: tuple(pair) >= lowest,
            lambda pair: "compute capability " + ".".join(map(str, pair)),
        )
