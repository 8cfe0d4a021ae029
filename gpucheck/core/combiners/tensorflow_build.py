"""Whether the installed TensorFlow was built with CUDA, and the GPUs that it has kernels for."""

import re

import msgspec

from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Evidence, Fact, Skip, combiner, saw
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tensorflow import TensorFlow

CUDA_SUPPORT_UNKNOWN = Skip("whether this TensorFlow was built with CUDA is only known once it is imported")


class Kernels(msgspec.Struct, frozen=True):
    """The compute capabilities that a TensorFlow build has code for."""

    version: str
    native: tuple[tuple[int, int], ...]
    ptx: tuple[int, int] | None
    evidence: tuple[Evidence, ...]

    @property
    def lowest(self) -> tuple[int, int]:
        """The minimum capability: TensorFlow ignores GPUs below it."""
        return min([*self.native, *([self.ptx] if self.ptx else [])])

    @property
    def highest(self) -> tuple[int, int]:
        """The highest capability with any code."""
        return max([*self.native, *([self.ptx] if self.ptx else [])])

    def runs_natively(self, capability: tuple[int, int]) -> bool:
        """Whether native code runs on it: of the same major, and an equal or lower minor."""
        return any(major == capability[0] and minor <= capability[1] for major, minor in self.native)


class TensorFlowBuild(Fact, frozen=True, kw_only=True):
    """The examined interpreter's TensorFlow, as it reports itself, else from the table of PyPI's wheels."""

    packages: Packages
    system: System | None
    tensorflow: TensorFlow | None
    built_with_cuda: bool | None
    kernels: Kernels | None  # None: unknown

    @property
    def cuda_wheels(self) -> bool:
        """Whether PyPI has wheels with CUDA for this platform."""
        return self.system is not None and (self.system.platform, self.system.architecture) in releases.CUDA_PLATFORMS

    @property
    def absent(self) -> bool:
        """Whether TensorFlow is missing: no package provides it, and it was not imported."""
        imported = self.tensorflow is not None and self.tensorflow.imported
        return self.packages.tensorflow is None and not self.packages.flavours and not imported

    @property
    def lists_gpu(self) -> bool:
        """Whether it listed a GPU."""
        return self.tensorflow is not None and self.tensorflow.lists_gpu


@combiner
def combine(
    interpreter: Interpreter, packages: Packages, system: System | None, tensorflow: TensorFlow | None
) -> TensorFlowBuild:
    """Use the imported module if there is one, else the package's name, version and platform."""
    return TensorFlowBuild(
        packages=packages,
        system=system,
        tensorflow=tensorflow,
        built_with_cuda=_built_with_cuda(interpreter, packages, system, tensorflow),
        kernels=_kernels_by_build_info(tensorflow) or _kernels_by_release(packages, tensorflow),
    )


def _built_with_cuda(
    interpreter: Interpreter, packages: Packages, system: System | None, tensorflow: TensorFlow | None
) -> bool | None:
    if tensorflow is not None and tensorflow.built_with_cuda is not None:
        return tensorflow.built_with_cuda
    installed = packages.tensorflow
    if installed is None or interpreter.environment == "conda" or "+" in installed.version:
        return None  # conda-forge and NVIDIA publish their own builds under the same name
    if "cpu" in installed.name or "intel" in installed.name:
        return False
    if installed.name != "tensorflow" or system is None:
        return None
    return (system.platform, system.architecture) in releases.CUDA_PLATFORMS


def _kernels_by_build_info(tensorflow: TensorFlow | None) -> Kernels | None:
    if tensorflow is None:
        return None
    native, ptx = [], None
    for entry in tensorflow.compute_capabilities:
        if match := re.fullmatch(r"(sm|compute)_(\d+)(\d)[a-z]?", entry):
            capability = int(match[2]), int(match[3])
            if match[1] == "sm":
                native.append(capability)
            else:
                ptx = max(capability, ptx or capability)
    if not native and not ptx:
        return None
    return Kernels(tensorflow.version or "", tuple(native), ptx, saw(tensorflow, "version", "compute_capabilities"))


def _kernels_by_release(packages: Packages, tensorflow: TensorFlow | None) -> Kernels | None:
    installed = packages.tensorflow
    if installed is None or "+" in installed.version or installed.name not in ("tensorflow", "tensorflow-gpu"):
        return None
    release = releases.release(installed.version)
    if release is None or (tensorflow is not None and tensorflow.built_with_cuda is False):
        return None
    native = tuple(divmod(cubin, 10) for cubin in release.cubins)
    return Kernels(installed.version, native, divmod(release.ptx, 10), saw(packages, "tensorflow.version"))
