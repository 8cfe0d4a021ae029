"""What at least three rules ask: pip's command line, whether a GPU is here, which kernels reach it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from gpucheck.compat import libraries as libraries_table
from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.model import Evidence, Fix, Request, Skip, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training

_NEW_ENVIRONMENT = "~/tensorflow-env"
_PLAIN_WORD = re.compile(r"[\w@%+=:,./~-]+")
_CUDA_ERROR_NO_DEVICE = 100

NO_TENSORFLOW_LIBRARIES = Skip("no TensorFlow whose libraries could be looked for on this system")
NO_WORD_ON_CUDA = Skip("whether this TensorFlow was built with CUDA is only known once it is imported")
NO_VIEW_OF_GPUS = Skip("neither the driver nor the PCI bus could say whether a GPU is here")


def pip(interpreter: Interpreter, *what: str) -> str:
    """The command that installs into this interpreter: pip is fetched where it is absent, and where it must not be used
    (PEP 668) a new virtual environment takes its place.
    """
    install = " ".join(("-m pip install", *(word(item) for item in what)))
    python = word(interpreter.executable)
    if interpreter.externally_managed:
        return f"{python} -m venv {_NEW_ENVIRONMENT} && {_NEW_ENVIRONMENT}/bin/python {install}"
    if interpreter.pip_version is None:
        return f"{python} -m ensurepip --upgrade && {python} {install}"
    return f"{python} {install}"


def word(text: str) -> str:
    """One word for a POSIX shell, quoted where it has to be; a leading ~ is meant to be expanded."""
    return text if _PLAIN_WORD.fullmatch(text) else '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'


def library_path(*folders: str) -> str:
    """The command that lets the loader look into these folders first. It counts for processes started afterwards."""
    return f'export LD_LIBRARY_PATH="{":".join(folders)}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'


def cuda_install(interpreter: Interpreter, packages: Packages) -> Fix:
    """Install the CUDA libraries of the installed TensorFlow, with what its release needs besides to find them."""
    installed = packages.tensorflow
    known = releases.release(installed.version) if installed else None
    if (
        installed is None
        or installed.name != "tensorflow"
        or "+" in installed.version
        or known is None
        or not known.and_cuda
        or interpreter.externally_managed
    ):
        return cuda_tensorflow(interpreter)
    command = pip(interpreter, f"tensorflow[and-cuda]=={installed.version}")
    if known.cusolver_reachable:
        return Fix(text=f"Install the CUDA libraries that TensorFlow {installed.version} is built for", command=command)
    return Fix(
        text=f"Install the CUDA libraries of TensorFlow {installed.version}, and name the one folder that this release"
        " forgets to search, in every shell that trains",
        command=f"{command} && {library_path(installed.folder + '/nvidia/cusolver/lib')}",
    )


def reinstall(interpreter: Interpreter, packages: Packages, names: Iterable[str | None]) -> Fix | None:
    """Lay down again the files of those packages that are recorded as installed; None if none is."""
    wanted = set(names)
    pins = sorted({f"{one.name}=={one.version}" for one in packages.nvidia if one.name in wanted})
    if not pins:
        return None
    return Fix(
        text="Lay down the files of the installed package again" if len(pins) == 1 else "Lay down their files again",
        command=pip(interpreter, "--force-reinstall", "--no-deps", "--no-cache-dir", *pins),
    )


def xla_tools(interpreter: Interpreter, packages: Packages, version: str) -> Fix:
    """Install ptxas and libdevice for this TensorFlow: of the CUDA it was built for, or a newer minor."""
    known = releases.release(version)
    package = libraries_table.tools_package(known.minor if known else releases.LATEST) or "nvidia-cuda-nvcc-cu12"
    again = reinstall(interpreter, packages, (package,))
    if again is not None:
        return again
    wanted = f"{package}>={known.cuda},<{known.cuda_major + 1}.0" if known else package
    return Fix(text="Install NVIDIA's compiler tools", command=pip(interpreter, wanted))


def cuda_tensorflow(interpreter: Interpreter) -> Fix:
    """Install the newest TensorFlow for this Python that finds pip's CUDA libraries by itself."""
    wanted = versions.parse(interpreter.version)[:2]
    fitting = [
        known
        for known in releases.RELEASES.values()
        if known.and_cuda
        and known.cusolver_reachable
        and versions.parse(known.python_min) <= wanted <= versions.parse(known.python_max)
    ]
    pin = f"=={fitting[-1].minor}.*" if fitting else ""
    return Fix(
        text="Install a TensorFlow with its CUDA libraries" + (" that it finds by itself" if pin else ""),
        command=pip(interpreter, f"tensorflow[and-cuda]{pin}"),
    )


def gpu_here(request: Request, container: Container, pci: Pci, driver: Driver, cuda: Cuda) -> bool | None:
    """Whether this process should be able to use an NVIDIA GPU once everything above the hardware is right.

    A container sees its host's PCI bus, so there the bus proves nothing; a GPU handed to a virtual machine is not ours.
    With --allow-cpu, GPUs that were all hidden from CUDA on purpose do not count. None: nobody could say.
    """
    if cuda.device_count:
        return True
    if request.allow_cpu and cuda.result == _CUDA_ERROR_NO_DEVICE:
        return False
    if driver.gpu_count:
        return True
    if not container.inside and any(gpu.kernel_driver != "vfio-pci" for gpu in pci.gpus):
        return True
    silent = {"crashed", "hung"} & {driver.status, cuda.status}
    return None if silent else False  # a driver that hangs may well have a GPU, which WSL and containers show nowhere else


def absent(here: bool | None) -> Skip | None:
    """The answer of a rule that only matters where a GPU is, for ``gpu_here`` being False or None."""
    return NO_VIEW_OF_GPUS if here is None else None


def tensorflow_absent(packages: Packages, tensorflow: TensorFlow | None) -> bool:
    """Whether the examined interpreter has no TensorFlow at all: no package that provides it, and no import of it."""
    return packages.tensorflow is None and not packages.flavours and not (tensorflow is not None and tensorflow.imported)


def built_with_cuda(system: System, interpreter: Interpreter, packages: Packages, tensorflow: TensorFlow | None) -> bool | None:
    """Whether the installed TensorFlow has GPU code: its own word, else what is known of the wheels on PyPI; None: unknown."""
    if tensorflow is not None and tensorflow.built_with_cuda is not None:
        return tensorflow.built_with_cuda
    installed = packages.tensorflow
    if installed is None or interpreter.environment == "conda" or "+" in installed.version:
        return None  # conda-forge and NVIDIA build their own under the same name
    if "cpu" in installed.name or "intel" in installed.name:
        return False
    if installed.name != "tensorflow":
        return None
    return system.platform == "linux" and system.architecture == "x86_64"


class Visible(NamedTuple):
    """One GPU that this process may use."""

    label: str  # "GPU 3", in NVML's order
    name: str
    capability: tuple[int, int]
    evidence: tuple[Evidence, ...]


def visible_gpus(gpus: Gpus, cuda: Cuda) -> list[Visible]:
    """The GPUs whose compute capability is known: as CUDA lists them, else as NVML does. None where all are hidden."""
    found: list[Visible] = []
    if cuda.result == _CUDA_ERROR_NO_DEVICE:
        return found
    if cuda.devices:
        index = {gpu.pci_address: gpu.index for gpu in gpus.gpus if gpu.pci_address}
        for place, device in enumerate(cuda.devices):
            if device.compute_capability is not None:
                label = f"GPU {index.get(device.pci_address or '', device.ordinal)}"
                evidence = saw(cuda, f"devices[{place}].name", f"devices[{place}].compute_capability")
                found.append(Visible(label, device.name or label, device.compute_capability, evidence))
        return found
    for place, gpu in enumerate(gpus.gpus):
        if gpu.compute_capability is not None:
            label, evidence = f"GPU {gpu.index}", saw(gpus, f"gpus[{place}].name", f"gpus[{place}].compute_capability")
            found.append(Visible(label, gpu.name or label, gpu.compute_capability, evidence))
    return found


class Kernels(NamedTuple):
    """What a TensorFlow build carries for GPUs, as compute capabilities."""

    version: str
    native: tuple[tuple[int, int], ...]
    ptx: tuple[int, int] | None
    evidence: tuple[Evidence, ...]

    @property
    def lowest(self) -> tuple[int, int]:
        """The lowest capability that TensorFlow does not ignore."""
        return min([*self.native, *([self.ptx] if self.ptx else [])])

    def runs_natively(self, capability: tuple[int, int]) -> bool:
        """Native code runs on its own major and an equal or higher minor."""
        return any(major == capability[0] and minor <= capability[1] for major, minor in self.native)


def kernels(packages: Packages, tensorflow: TensorFlow | None) -> Kernels | None:
    """From TensorFlow's own build info; else from the release table, which knows the wheels on PyPI; None if neither can say."""
    if tensorflow is not None and tensorflow.compute_capabilities:
        native, ptx = [], None
        for entry in tensorflow.compute_capabilities:
            if match := re.fullmatch(r"(sm|compute)_(\d+)(\d)[a-z]?", entry):
                capability = int(match[2]), int(match[3])
                if match[1] == "sm":
                    native.append(capability)
                else:
                    ptx = max(capability, ptx or capability)
        if native or ptx:
            version = tensorflow.version or (packages.tensorflow.version if packages.tensorflow else "")
            return Kernels(version, tuple(native), ptx, saw(tensorflow, "version", "compute_capabilities"))
    installed = packages.tensorflow
    if (
        installed is None
        or "+" in installed.version
        or installed.name not in ("tensorflow", "tensorflow-gpu")
        or (tensorflow is not None and tensorflow.built_with_cuda is False)
    ):
        return None
    known = releases.release(installed.version)
    if known is None:
        return None
    native = [divmod(cubin, 10) for cubin in known.cubins]
    return Kernels(installed.version, tuple(native), divmod(known.ptx, 10), saw(packages, "tensorflow.version"))


def lists_gpu(framework: TensorFlow | Backend | None) -> bool:
    """Whether the framework itself listed a GPU, which proves every library it needs for that."""
    return framework is not None and any(device.kind == "GPU" for device in framework.devices or ())


def trained_on_gpu(training: Training | None, *, compiled: bool = False) -> bool:
    """Whether a training job passed on a GPU (with a step compiled by TensorFlow's XLA, if ``compiled``): proof of all it stands on."""
    return training is not None and any(
        run.status == "passed"
        and (not compiled or (run.backend == "tensorflow" and (run.compiled or run.xla_verified)))
        and any("GPU" in device for device in run.devices)
        for run in training.runs
    )


def events(log: Log | None, *kinds: str) -> tuple[Evidence, ...]:
    """The lines of a log that say so."""
    if log is None:
        return ()
    return tuple(
        item for place, event in enumerate(log.events) if event.kind in kinds for item in saw(log, f"events[{place}].text")
    )


def listing(names: list[str], most: int = 3) -> str:
    """'a', 'a and b', 'a, b and 5 more'."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
