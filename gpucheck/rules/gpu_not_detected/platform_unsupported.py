"""TensorFlow has no package for this platform, or none that can use a GPU.

Symptom:
    ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
    tf.test.is_built_with_cuda() is False on 64-bit ARM (GH200, GB200, DGX Spark, Jetson)
    version `GLIBC_2.27' not found
Cause:
    The packages on PyPI are for x86-64 and 64-bit ARM, for the GNU C library (not Alpine's musl) of 2.27 or newer, and for 64-bit
    Python. Those for ARM contain no GPU code, although pip installs NVIDIA's libraries beside them without complaint.
Fix:
    1. Use a newer distribution with glibc (Alpine has another C library), or an image with one
       $ docker run --gpus all -it tensorflow/tensorflow:latest-gpu
    2. On 64-bit ARM with a GPU, use NVIDIA's own build
       $ docker run --gpus all -it nvcr.io/nvidia/tensorflow:25.02-tf2-py3
    3. Use a 64-bit Python
Verify:
    python -c 'import tensorflow as tf; print(tf.test.is_built_with_cuda())' prints True.
Unless:
    TensorFlow was built from source for this platform and works.
Example:
    system.architecture = "aarch64"
    tensorflow.built_with_cuda = false
    tensorflow.cuda_version = null
    tensorflow.cudnn_version = null
    tensorflow.compute_capabilities = []
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow's packages for 64-bit ARM (aarch64) have no GPU code, so the NVIDIA GPU of this machine can't be used with them.
References:
    https://www.tensorflow.org/install/pip
"""

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._gpus import absent, gpu_here
from gpucheck.rules._tensorflow import NO_WORD_ON_CUDA, built_with_cuda, lists_gpu

_ARCHITECTURES = ("x86_64", "aarch64", "amd64", "arm64")
_NVIDIA_IMAGE = "nvcr.io/nvidia/tensorflow:25.02-tf2-py3"  # NVIDIA's last with TensorFlow, for both architectures


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "tensorflow-not-installed",
        "tensorflow-import-failed",
        "tensorflow-cpu-build",
        "gpu-too-old",
        "gpu-too-new",
        "cuda-libraries-missing",
        "cuda-libraries-unreachable",
        "cuda-version-mismatch",
        "cudnn-missing",
        "ptxas-missing",
        "libdevice-missing",
        "gpus-not-listed",
        "training-failed",
        "training-crashed",
        "cpu-fallback",
    ),
    tensorflow=True,
)
def check(
    request: Request,
    system: System,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    tensorflow: TensorFlow | None,
) -> Finding | Skip | None:
    """No wheel at all; or on ARM, one that can't use the GPU that is here. What imports and works was built for it."""
    if system.platform != "linux":
        return None  # macos-no-cuda and windows-native-unsupported
    if tensorflow is None or not tensorflow.imported:
        reason = _old_glibc(system, packages)
        if tensorflow is not None or packages.tensorflow is None:  # else: somebody built one, and only the import can tell
            reason = _no_wheel(system, interpreter) or reason
        if reason is not None:
            return Finding(
                summary=f"TensorFlow has no package for this platform: {reason[0]}.",
                evidence=saw(system, "architecture", "glibc", "musl", "os_name") + saw(interpreter, "bits"),
                fix=(Fix(text=reason[1]),),
            )
    if system.architecture != "aarch64" or packages.tensorflow is None or lists_gpu(tensorflow):
        return None
    here = gpu_here(request, container, pci, driver, cuda)
    if not here:
        return absent(here)
    built = built_with_cuda(system, interpreter, packages, tensorflow)
    if built is None:
        return NO_WORD_ON_CUDA
    if built:
        return None
    return Finding(
        summary="TensorFlow's packages for 64-bit ARM (aarch64) have no GPU code, so the NVIDIA GPU of this machine can't be used"
        " with them.",
        evidence=(
            *saw(system, "architecture"),
            *saw(packages, "tensorflow.name", "tensorflow.version"),
            *(saw(tensorflow, "built_with_cuda") if tensorflow is not None else ()),
        ),
        fix=(
            Fix(
                text=f"Use NVIDIA's own build for ARM, the image {_NVIDIA_IMAGE}",
                command=None if container.inside else f"docker run --gpus all -it {_NVIDIA_IMAGE}",
            ),
            Fix(text="Or train on the CPU with the GPU hidden", command="CUDA_VISIBLE_DEVICES=-1 gpucheck --allow-cpu"),
        ),
    )


def _no_wheel(system: System, interpreter: Interpreter) -> tuple[str, str] | None:
    """Why no wheel can be installed, and what to use instead."""
    if system.musl:
        name = system.os_name or "this system"
        return (
            f"{name} uses the musl C library, and the packages need glibc",
            "Use an image or a distribution with glibc, such as python:3.12-slim",
        )
    if interpreter.bits == 32:
        return "this Python is a 32-bit program", "Install a 64-bit Python"
    if system.architecture is not None and system.architecture.lower() not in _ARCHITECTURES:
        return f"there are none for {system.architecture}", "Use an x86-64 machine, or build TensorFlow from source"
    return None


def _old_glibc(system: System, packages: Packages) -> tuple[str, str] | None:
    """A C library older than the wheels ask for, as when an environment is shared between machines."""
    installed = packages.tensorflow
    known = releases.release(installed.version) if installed and "+" not in installed.version else releases.RELEASES["2.10"]
    if known is not None and system.glibc and not versions.at_least(system.glibc, known.glibc_floor):
        what = f"TensorFlow {installed.version} needs" if installed else "every one needs"
        return (
            f"{what} glibc {known.glibc_floor} or newer, and this system has {system.glibc}",
            "Use a newer distribution, or a container image with one",
        )
    return None
