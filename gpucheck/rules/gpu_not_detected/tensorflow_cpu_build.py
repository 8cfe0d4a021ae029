"""The installed TensorFlow, or the JAX or PyTorch that Keras trains on, was built without CUDA: it can't use the NVIDIA GPU here.

Symptom:
    tf.test.is_built_with_cuda() is False
    tf.config.list_physical_devices("GPU") returns []
    This TensorFlow binary was not built with CUDA
    An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.
    AssertionError: Torch not compiled with CUDA enabled
Cause:
    tensorflow-cpu, the wheels for macOS and for 64-bit ARM, and those for native Windows since 2.11 contain no GPU code. If several
    TensorFlow packages are installed, the files of the last one win. JAX brings CUDA as a plugin (jax[cuda12]), and PyTorch has wheels
    with and without it.
Fix:
    1. Install the build for NVIDIA GPUs (Linux), in place of tensorflow-cpu
       $ python -m pip uninstall -y tensorflow-cpu; python -m pip install "tensorflow[and-cuda]==2.20.*"
    2. JAX
       $ python -m pip install --upgrade "jax[cuda12]"
    3. PyTorch
       $ python -m pip install --upgrade --force-reinstall torch
    4. If the CPU is enough, ignore it
Verify:
    python -c 'import tensorflow as tf; print(tf.test.is_built_with_cuda())' prints True.
Unless:
    This environment is meant for the CPU: hide the GPU with CUDA_VISIBLE_DEVICES=-1 and say --allow-cpu.
Example:
    packages.tensorflow.name = "tensorflow-cpu"
    packages.flavours[0].name = "tensorflow-cpu"
    tensorflow.built_with_cuda = false
    tensorflow.cuda_version = null
    tensorflow.cudnn_version = null
    tensorflow.compute_capabilities = []
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> tensorflow-cpu 2.21.0 was built without CUDA, so it can't use the NVIDIA GPU of this machine.
References:
    https://www.tensorflow.org/install/pip
"""

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.tpu import Tpu
from gpucheck.rules._backend import cuda_build, title
from gpucheck.rules._commands import cuda_tensorflow, word
from gpucheck.rules._gpus import absent, gpu_here
from gpucheck.rules._tensorflow import NO_WORD_ON_CUDA, built_with_cuda, lists_gpu

_REPLACED = ("tensorflow-cpu", "tensorflow-intel", "tensorflow-cpu-aws", "intel-tensorflow", "tf-nightly-cpu")


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "gpus-not-listed",
        "gpu-too-old",
        "gpu-too-new",
        "cuda-libraries-missing",
        "cuda-libraries-unreachable",
        "cuda-version-mismatch",
        "cudnn-missing",
        "cudnn-version-mismatch",
        "library-corrupt",
        "library-path-conflict",
        "ptxas-missing",
        "libdevice-missing",
        "cpu-fallback",
    ),
)
def check(
    request: Request,
    system: System,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    tpu: Tpu,
    interpreter: Interpreter,
    packages: Packages,
    tensorflow: TensorFlow | None,
    backend: Backend | None,
) -> Finding | Skip | None:
    """TensorFlow's own word first; without an import, the package's name and the platform. Then the other backend's word."""
    here = gpu_here(request, container, pci, driver, cuda)
    if tpu.expected or request.gpuless:
        return None  # a build for TPUs has no GPU code, and needs none
    if not here:
        return absent(here)
    found = None
    if request.other_backend is None:
        found = _tensorflow(system, driver, cuda, interpreter, packages, tensorflow)
    if backend is None or not backend.other or isinstance(found, Finding):
        return found
    return _other(driver, cuda, interpreter, backend) or found


def _tensorflow(
    system: System, driver: Driver, cuda: Cuda, interpreter: Interpreter, packages: Packages, tensorflow: TensorFlow | None
) -> Finding | Skip | None:
    if lists_gpu(tensorflow) or packages.tensorflow is None:
        return None
    built = built_with_cuda(system, interpreter, packages, tensorflow)
    if built is None:
        return NO_WORD_ON_CUDA
    if built or (tensorflow is not None and tensorflow.built_with_rocm):
        return None
    name = packages.tensorflow.name
    also = [one.name for one in packages.flavours if one.name in _REPLACED]
    python = word(interpreter.executable)
    fix = cuda_tensorflow(interpreter)
    if also and not interpreter.externally_managed:
        fix = Fix(
            text="Replace it by the one with GPU code and its CUDA libraries",
            command=f"{python} -m pip uninstall -y {' '.join(also)} && {fix.command}",
        )
    return Finding(
        summary=f"{name} {packages.tensorflow.version} was built without CUDA, so it can't use the NVIDIA GPU of this machine.",
        evidence=(
            *saw(packages, "tensorflow.name", "tensorflow.version"),
            *(saw(tensorflow, "built_with_cuda") if tensorflow is not None else saw(system, "platform", "architecture")),
            *saw(driver, "gpu_count"),
            *saw(cuda, "device_count"),
        ),
        fix=(fix,),
    )


def _other(driver: Driver, cuda: Cuda, interpreter: Interpreter, backend: Backend) -> Finding | None:
    if backend.built_with_cuda is not False or lists_gpu(backend):
        return None
    return Finding(
        summary=f"{title(backend)} was built without CUDA, so Keras can't use the NVIDIA GPU of this machine with it.",
        evidence=(*saw(backend, "version", "built_with_cuda"), *saw(driver, "gpu_count"), *saw(cuda, "device_count")),
        fix=(cuda_build(interpreter, backend.name),),
    )
