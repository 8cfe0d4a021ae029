"""TensorFlow ignores a GPU whose compute capability is below the minimum that this build supports.

Symptom:
    Ignoring visible gpu device (device: 0, name: Tesla M60, pci bus id: 0000:01:00.0, compute capability: 5.2)
      with Cuda compute capability 5.2. The minimum required Cuda capability is 6.0.
    CUDA_ERROR_NO_BINARY_FOR_GPU, cudaErrorInvalidDeviceFunction
Cause:
    A TensorFlow build contains code for some compute capabilities: native code runs on its own generation, intermediate code
    (PTX) on newer ones only. Nothing runs on an older GPU, and each release drops some.
Verify:
    gpucheck trains on the GPU.
Unless:
    It is a display card next to the GPUs that train: TensorFlow should ignore it.
Example:
    gpus.gpus[0].name = "Tesla M60"
    gpus.gpus[0].compute_capability = [5, 2]
    cuda.devices[0].name = "Tesla M60"
    cuda.devices[0].compute_capability = [5, 2]
    libraries.ptxas = {"path": "/home/user/.venv/lib/python3.12/site-packages/nvidia/cuda_nvcc/bin/ptxas", "version": "12.5.82"}
    log.events = [{"kind": "gpu-ignored", "line": 7, "text": "Ignoring visible gpu device (device: 0, name: Tesla M60, compute capability: 5.2). The minimum required Cuda capability is 6.0.", "fields": {"device": "0", "reason": "capability", "capability": "5.2", "minimum": "6.0"}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 ignores Tesla M60: its compute capability is 5.2, but the minimum that this build supports is 6.0.
References:
    https://developer.nvidia.com/cuda-gpus
    https://www.tensorflow.org/install/source#gpu
"""

from msgspec.structs import replace

from gpucheck.core.combiners.cuda_gpus import CudaGpus
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import versions
from gpucheck.core.compat.cuda import CUDNN_FOR_OLD_GPUS
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, Severity, Skip, rule
from gpucheck.core.model.wording import listing, version_text
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.repairs.context import Context


@rule(scope=Scope.ENVIRONMENT, explains=("gpus-not-listed", "cudnn-version-mismatch"), tensorflow=True)
def check(
    request: Request, gpus: CudaGpus, build: TensorFlowBuild, outcomes: TrainingOutcomes, context: Context
) -> Finding | Skip | None:
    """Report a GPU older than all code of the build; a warning if another GPU remains, or the CPU was requested."""
    if not gpus.capable:
        return None
    kernels = build.kernels
    if kernels is None:
        return Skip("the compute capabilities that this TensorFlow has code for are unknown")
    old = [gpu for gpu in gpus.capable if gpu.capability < kernels.lowest]
    if not old:
        return None
    return Finding(
        summary=f"TensorFlow {kernels.version} ignores {listing(sorted({gpu.name for gpu in old}))}: its compute capability is"
        f" {version_text(old[0].capability)}, but the minimum that this build supports is {version_text(kernels.lowest)}.",
        evidence=(
            *(item for gpu in old for item in gpu.evidence),
            *kernels.evidence,
            *outcomes.saw_events("gpu-ignored"),
        ),
        fix=repairs(replace(context, framework="tensorflow"), left=len(old) < len(gpus.capable)),
        affects=tuple(gpu.label for gpu in old),
        severity=Severity.WARNING if len(old) < len(gpus.capable) or not request.needs_gpu else None,
    )


def repairs(context: Context, *, capability: str = "", gpu: str = "", left: bool | str = False) -> Fixes:
    """Install a release that still supports the GPU; no fix if another GPU remains.

    Args:
        context: what is known about the machine.
        capability: the GPU's compute capability: "5.2"; empty if unknown.
        gpu: its name.
        left: whether another GPU is left.
    """
    if left:
        return
    if capability and context.interpreter is None:
        major, minor = versions.parse(capability)[:2]
        context = replace(context, gpus=Gpus(gpus=(Gpu(index=0, name=gpu, compute_capability=(major, minor)),)))
    if context.framework == "jax":
        command = context.pip("--upgrade", "jax[cuda12]", CUDNN_FOR_OLD_GPUS)
        yield Fix(text="Install JAX for CUDA 12 with the last cuDNN that supports GPUs before Turing", command=command)
    elif not (capability or context.gpus):
        yield Fix(text="Install the last release of the program that supports the GPU")
        yield Fix.look("TensorFlow: check which release that is, and what it needs", "gpucheck setup")
    else:
        install = context.with_cuda(context.framework or "tensorflow", configured=True)
        yield from context.only(install, framework=context.framework or "tensorflow")
    if context.framework is None:
        yield Fix(text="Other programs: use an older release that still supports this GPU")
    yield Fix(text="Use a newer GPU, or build the program from source for this one")
