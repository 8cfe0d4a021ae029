"""The installed TensorFlow, or the JAX or PyTorch that Keras trains on, was built without CUDA: it can't use the NVIDIA GPU here.

Symptom:
    - tf.test.is_built_with_cuda() is False
    tf.config.list_physical_devices("GPU") returns []
    This TensorFlow binary was not built with CUDA
    An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.
    AssertionError: Torch not compiled with CUDA enabled
Cause:
    tensorflow-cpu, the wheels for macOS and for 64-bit ARM, and those for native Windows since 2.11 contain no GPU code. If several
    TensorFlow packages are installed, the files of the last one win. JAX brings CUDA as a plugin (jax[cuda12]), and PyTorch has wheels
    with and without it.
Verify:
    python -c 'import tensorflow as tf; print(tf.test.is_built_with_cuda())' prints True.
Unless:
    This environment is for the CPU: hide the GPU with CUDA_VISIBLE_DEVICES=-1 and use --allow-cpu.
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

from collections.abc import Sequence

from msgspec.structs import replace

from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.combiners.tensorflow_build import CUDA_SUPPORT_UNKNOWN, TensorFlowBuild
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, Skip, rule, saw
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._cuda_builds import INSTALL_LAST_ON_WINDOWS, conda_build, jax_build, torch_build

_REPLACED = ("tensorflow-cpu", "tensorflow-intel", "tensorflow-cpu-aws", "intel-tensorflow", "tf-nightly-cpu")


@rule(
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
    request: Request, presence: GpuPresence, tpu: Tpu, build: TensorFlowBuild, backend: Backend | None, context: Context
) -> Finding | Skip | None:
    """Check the imported TensorFlow, else its package's name and platform; then the other backend."""
    if tpu.expected or request.gpuless:
        return None  # a build for TPUs needs no GPU code
    if not presence.present:
        return presence.skip
    judged = None if request.other_backend else _tensorflow(presence, build, context)
    if backend is None or not backend.other or isinstance(judged, Finding):
        return judged
    return _other_backend(presence, backend, context) or judged


def _tensorflow(presence: GpuPresence, build: TensorFlowBuild, context: Context) -> Finding | Skip | None:
    packages, tensorflow = build.packages, build.tensorflow
    if build.lists_gpu or packages.tensorflow is None:
        return None
    if build.built_with_cuda is None:
        return CUDA_SUPPORT_UNKNOWN
    if build.built_with_cuda or (tensorflow is not None and tensorflow.built_with_rocm):
        return None
    return Finding(
        summary=f"{packages.tensorflow.name} {packages.tensorflow.version} was built without CUDA, so it can't use the NVIDIA GPU"
        " of this machine.",
        evidence=(
            *saw(packages, "tensorflow.name", "tensorflow.version"),
            *(saw(tensorflow, "built_with_cuda") or saw(build.system, "platform", "architecture")),
            *presence.evidence,
        ),
        fix=repairs(
            context,
            replaced=[package.name for package in packages.flavours if package.name in _REPLACED],
        ),
    )


def _other_backend(presence: GpuPresence, backend: Backend, context: Context) -> Finding | None:
    if backend.built_with_cuda is not False or backend.lists_gpu:
        return None
    return Finding(
        summary=f"{backend.title} was built without CUDA, so Keras can't use the NVIDIA GPU of this machine with it.",
        evidence=(*saw(backend, "version", "built_with_cuda"), *presence.evidence),
        fix=repairs(context, backend=backend.name, configured=backend.source != "--backend"),
    )


def repairs(
    context: Context,
    *,
    package: str = "",
    torch: str = "",
    backend: str = "",
    configured: bool = False,
    replaced: Sequence[str] = ("tensorflow-cpu",),
) -> Fixes:
    """Install the build for NVIDIA GPUs in place of the one for the CPU.

    Args:
        context: what is known about the machine.
        package: "jaxlib" if a log names it.
        torch: non-empty if a log names PyTorch.
        backend: on a live machine, the framework without CUDA if it is not TensorFlow.
        configured: whether Keras is already configured for that backend.
        replaced: packages to remove before TensorFlow with CUDA is installed.
    """
    if context.interpreter is not None:
        yield context.with_cuda(backend or "tensorflow", instead_of=() if backend else replaced, configured=configured)
        return
    context = replace(context, framework="jax" if package == "jaxlib" else "torch" if torch else context.framework)
    if not context.excludes(framework="tensorflow"):
        yield from _for_gpus(context, replaced)
    yield from context.only(jax_build(context), framework="jax")
    yield from context.only(torch_build(context, "126"), framework="torch")


def _for_gpus(context: Context, replaced: Sequence[str]) -> Fixes:
    """Install TensorFlow for GPUs."""
    if context.windows:
        yield Fix(
            text="Native Windows has no TensorFlow with GPU support since 2.11: install WSL2 (as an administrator), and TensorFlow in it",
            command="wsl --install",
            needs=("reboot",),
        )
        yield Fix(text="Or stay on TensorFlow 2.10, the last for native Windows, with CUDA 11.2", command=INSTALL_LAST_ON_WINDOWS)
        return
    yield context.with_cuda(instead_of=replaced)
    if context.manager == "conda":
        yield conda_build()
