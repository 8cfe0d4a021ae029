"""A GPU is too new for this TensorFlow, which has no native code for it and fails with code compiled at run time.

Symptom:
    - TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0a.
    LLVM ERROR: PTX version 8.5 does not support target 'sm_120'
    'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'
    - CUDA_ERROR_INVALID_HANDLE, no kernel image is available for execution on the device
Cause:
    No TensorFlow up to 2.21 has native code for Blackwell GPUs (compute capability 10.0 and newer). Up to 2.20 the driver rejects the
    code that TensorFlow generates for them. With 2.21 the driver compiles TensorFlow's kernels at first use, which takes long, but
    XLA, with which Keras 3 compiles models by default, aborts.
Verify:
    gpucheck trains on the GPU, the XLA-compiled step included.
Unless:
    You train with jit_compile=False on TensorFlow 2.21: that works.
Example:
    gpus.gpus[0].name = "NVIDIA GeForce RTX 5090"
    gpus.gpus[0].compute_capability = [12, 0]
    cuda.devices[0].name = "NVIDIA GeForce RTX 5090"
    cuda.devices[0].compute_capability = [12, 0]
    tensorflow.devices[1].description = "NVIDIA GeForce RTX 5090"
    tensorflow.devices[1].compute_capability = [12, 0]
    training.runs = []
    -> TensorFlow 2.21.0 does not fully support NVIDIA GeForce RTX 5090 (Blackwell, compute capability 12.0): kernels wait for a slow PTX compilation, and XLA, which Keras 3 turns on by default, aborts.
References:
    https://github.com/tensorflow/tensorflow/issues/111958
    https://github.com/tensorflow/tensorflow/issues/97387
"""

from msgspec.structs import replace

from gpucheck.core.combiners.cuda_gpus import CudaGpus
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import gpus as gpu_tables
from gpucheck.core.compat import images, versions
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat.gpus import FIRST_BLACKWELL
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.model.wording import version_text
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._cuda_builds import torch_build


@rule(
    scope=Scope.ENVIRONMENT,
    explains=(
        "gpus-not-listed",
        "training-failed",
        "training-crashed",
        "kernels-jit-compiled",
    ),
    tensorflow=True,
)
def check(gpus: CudaGpus, build: TensorFlowBuild, context: Context, outcomes: TrainingOutcomes) -> Finding | Skip | None:
    """Report a GPU newer than all native code and known to fail with PTX, unless a compiled step passed on it."""
    if not gpus.capable or outcomes.trained_on_gpu(compiled=True):
        return None
    kernels = build.kernels
    if kernels is None:
        return Skip("the compute capabilities that this TensorFlow has code for are unknown")
    newer = [gpu for gpu in gpus.capable if gpu.capability > kernels.highest and not kernels.runs_natively(gpu.capability)]
    problem: str | None = "it has neither native code nor PTX for it"
    if kernels.ptx is not None:  # the driver compiles PTX for newer GPUs, which works up to Hopper
        newer = [gpu for gpu in newer if gpu.capability >= FIRST_BLACKWELL]
        problem = releases.blackwell_problem(kernels.version)
    if not newer:
        return None
    first = newer[0]
    if problem is None:
        return Skip(f"whether TensorFlow {kernels.version} works on {first.name} is unknown")
    architecture = gpu_tables.architecture(first.capability)
    kind = f"{f'{architecture}, ' if architecture else ''}compute capability {version_text(first.capability)}"
    return Finding(
        summary=f"TensorFlow {kernels.version} does not fully support {first.name} ({kind}): {problem}.",
        evidence=(
            *(item for gpu in newer for item in gpu.evidence),
            *kernels.evidence,
            *outcomes.saw_events("kernels-jit-compiled", "kernel-image-missing"),
        ),
        fix=repairs(replace(context, framework="tensorflow"), version=kernels.version),
        affects=tuple(gpu.label for gpu in newer),
    )


def repairs(context: Context, *, capability: str = "", framework: str = "", version: str = "") -> Fixes:
    """Install a build with code for the GPU.

    Args:
        context: what is known about the machine.
        capability: the GPU's compute capability: "12.0"; empty if unknown.
        framework: "PyTorch" if the message names it.
        version: TensorFlow's version.
    """
    used = "torch" if framework == "PyTorch" else context.framework
    if capability and versions.parse(capability) < FIRST_BLACKWELL and used in ("tensorflow", "torch"):
        yield context.with_cuda(used, configured=True)
        return
    context = replace(context, framework=used)
    for fix in _tensorflow(context, version or (context.framework_version or "" if used == "tensorflow" else "")):
        yield from context.only(fix, framework="tensorflow")
    torch = replace(
        torch_build(context, "128"), text="Install a build with code for this GPU (also of torchvision and torchaudio)"
    )
    yield from context.only(torch, framework="torch")
    jax = Fix(
        text="Install the newest release, whose CUDA libraries support this GPU",
        command=context.pip("--upgrade", f"jax[{context.jax_extra}]"),
    )
    yield from context.only(jax, framework="jax")
    if used is None:
        yield Fix(text="Other programs: use a build for CUDA 12.8 or newer, which has code for this GPU")


def _tensorflow(context: Context, version: str) -> Fixes:
    start = f"docker run --gpus all -it {images.NAME}"
    if context.windows:
        yield Fix(text=f"Start from NVIDIA's own build in WSL2, which has code for this GPU: {start}")
    else:
        yield Fix(
            text=f"Start from NVIDIA's own build, the image {images.NAME}, which has code for this GPU",
            command=None if context.in_container else start,
        )
    without_xla = "Train without XLA, in your code: model.compile(..., jit_compile=False); the first step takes minutes"
    if version and versions.at_least(version, "2.21"):
        yield Fix(text=without_xla)
        return
    python = context.interpreter.version if context.interpreter is not None else context.python_version
    if not context.windows and (python is None or versions.at_least(python, releases.RELEASES["2.21"].python_min)):
        command = context.pip("tensorflow[and-cuda]==2.21.*")
        yield Fix(text=f"Or use TensorFlow 2.21, whose kernels the driver can compile. {without_xla}", command=command)
