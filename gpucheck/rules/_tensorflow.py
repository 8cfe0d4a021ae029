"""What the installed TensorFlow can do with a GPU: whether it was built for CUDA, which kernels it carries, what it listed."""

import re
from typing import NamedTuple

from gpucheck.compat import tensorflow as releases
from gpucheck.model import Evidence, Skip, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages
from gpucheck.probes.system import System
from gpucheck.probes.tensorflow import TensorFlow

NO_TENSORFLOW_LIBRARIES = Skip("no TensorFlow whose libraries could be looked for on this system")
NO_WORD_ON_CUDA = Skip("whether this TensorFlow was built with CUDA is only known once it is imported")


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
