"""TensorFlow ignores a GPU whose compute capability is below the minimum that this build supports.

Symptom:
    Ignoring visible gpu device (device: 0, name: Tesla M60, pci bus id: 0000:01:00.0, compute capability: 5.2)
      with Cuda compute capability 5.2. The minimum required Cuda capability is 6.0.
    CUDA_ERROR_NO_BINARY_FOR_GPU, cudaErrorInvalidDeviceFunction
Cause:
    A TensorFlow build contains code for some compute capabilities: native code runs on its own generation, intermediate code
    (PTX) on newer ones only. Nothing runs on an older GPU, and each release drops some.
Fix:
    1. Install the last TensorFlow release that supports it
    2. Check which release this is, and what it needs
       ? gpucheck setup
    3. Other programs: use an older release that still supports this GPU
    4. Use a newer GPU, or build the program from source for this one
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

from gpucheck.core.combiners.cuda_gpus import CudaGpus
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Finding, Fix, Request, Scope, Severity, Skip
from gpucheck.core.model.plugin import rule
from gpucheck.core.repairs.wording import listing, version_text


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("gpus-not-listed", "cudnn-version-mismatch"),
    tensorflow=True,
)
def check(request: Request, gpus: CudaGpus, build: TensorFlowBuild, outcomes: TrainingOutcomes) -> Finding | Skip | None:
    """Below everything that the build carries; a warning where another GPU, or by request the CPU, is left to train on."""
    if not gpus.capable:
        return None
    kernels = build.kernels
    if kernels is None:
        return Skip("which compute capabilities this TensorFlow has code for is not known")
    old = [gpu for gpu in gpus.capable if gpu.capability < kernels.lowest]
    if not old:
        return None
    return Finding(
        summary=f"TensorFlow {kernels.version} ignores {listing(sorted({gpu.name for gpu in old}))}: its compute capability is"
        f" {version_text(old[0].capability)}, but the minimum that this build supports is {version_text(kernels.lowest)}.",
        evidence=(
            *(item for gpu in old for item in gpu.evidence),
            *kernels.evidence,
            *outcomes.saw_events(Kind.GPU_IGNORED),
        ),
        fix=(build.installation.context.with_cuda(), Fix(text="Use a newer GPU, or build TensorFlow from source for this one")),
        affects=tuple(gpu.label for gpu in old),
        severity=Severity.WARNING if len(old) < len(gpus.capable) or not request.needs_gpu else None,
    )
