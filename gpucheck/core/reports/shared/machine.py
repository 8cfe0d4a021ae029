"""The machine that a report is about, in a few words: its system, its GPUs, and the versions of its software."""

from collections import Counter
from collections.abc import Iterable, Iterator

from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import Level, Report, Request
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda, CudaDevice
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.reports.shared.words import size


def system_name(report: Report) -> str:
    """Return the operating system, with WSL or container: "Ubuntu 24.04.3 LTS in docker"."""
    system, container, wsl = report.fact(System), report.fact(Container), report.fact(Wsl)
    name = (system.os_name or system.platform) if system else "unknown system"
    if wsl and wsl.inside:
        name += f" on WSL{wsl.version or ''}"
    return f"{name} in {container.kind or 'a container'}" if container and container.inside else name


def of_node(report: Report) -> bool:
    """Whether the run checked only the machine, not an environment."""
    request = report.fact(Request)
    return request is not None and request.level is Level.NODE


def listed_gpus(report: Report) -> tuple[Gpu, ...]:
    """Return the GPUs that NVML lists; empty if it was not queried."""
    gpus = report.fact(Gpus)
    return gpus.gpus if gpus else ()


def gpu_count(report: Report) -> int:
    """Return the number of GPUs available to this process: from CUDA, else from NVML, else from the PCI bus."""
    cuda, pci = report.fact(Cuda), report.fact(Pci)
    return (cuda and cuda.device_count) or len(listed_gpus(report)) or len(pci.gpus if pci else ())


def gpu_names(report: Report) -> str:
    """Return the GPUs by kind: "8 × NVIDIA H200"; empty if no name is known."""
    cuda = report.fact(Cuda)
    gpus: tuple[Gpu | CudaDevice, ...] = listed_gpus(report) or (cuda.devices if cuda else ())
    return ", ".join(counted(gpu.name or "GPU of unknown name" for gpu in gpus))


def gpu_kind(gpu: Gpu) -> str:
    """Return one GPU's name, memory and compute capability."""
    words = [gpu.name or "GPU of unknown name"]
    if gpu.memory_total_bytes:
        words.append(size(gpu.memory_total_bytes))
    if gpu.compute_capability:
        words.append("compute capability " + ".".join(map(str, gpu.compute_capability)))
    return ", ".join(words)


def counted(kinds: Iterable[str]) -> list[str]:
    """Count equal names, in order of first occurrence: "2 × TPU v5e"."""
    return [f"{count} × {kind}" for kind, count in Counter(kinds).items()]


def versions(report: Report) -> list[str]:
    """Return the versions in the first line of a report: of gpucheck, of Python with its environment, and of the frameworks."""
    interpreter = report.fact(Interpreter)
    python = [f"Python {interpreter.version} ({_environment(interpreter)})"] if interpreter else []
    return [f"gpucheck {report.tool.version}", *python, *_frameworks(report)]


def _frameworks(report: Report) -> Iterator[str]:
    """Yield TensorFlow, the other backend that Keras uses, and Keras, each with its version."""
    packages, tensorflow = report.fact(Packages), report.fact(TensorFlow)
    backend, keras = report.fact(Backend), report.fact(Keras)
    other = backend if backend and backend.other else None
    installed = packages.tensorflow if packages else None
    version = (tensorflow and tensorflow.version) or (installed and installed.version)
    if version:
        yield f"TensorFlow {version}" + (f" ({installed.name})" if installed and installed.name != "tensorflow" else "")
    elif packages and not other:
        yield "no TensorFlow"
    if other and other.version:
        yield f"{TITLES[other.name]} {other.version}"
    keras_installed = packages.keras if packages else None
    if keras_version := (keras and keras.version) or (keras_installed and keras_installed.version):
        unusual = keras and keras.backend not in (None, "tensorflow")  # the checklist always shows it
        yield f"Keras {keras_version}" + (f" on {keras.backend}" if keras and unusual else "")


def _environment(interpreter: Interpreter) -> str:
    kind, prefix = interpreter.environment, interpreter.prefix.replace("\\", "/")
    name = prefix.rstrip("/").rpartition("/")[2]
    if kind == "conda":
        return f"conda {name}"
    return name or kind if kind else "no virtual environment"
