"""XLA can't find ptxas, the assembler that it needs to compile for an NVIDIA GPU.

Symptom:
    No PTX compilation provider is available. Neither ptxas/nvlink nor nvtjlink is available.
    Couldn't get ptxas version : FAILED_PRECONDITION: Couldn't get ptxas/nvlink version string
    ptxas 12.3.103 has a bug that we think can affect XLA. Please use a different version.
    Can't find ptxas binary in ${CUDA_DIR}/bin. Custom ptxas location can be specified using $PATH.
Cause:
    XLA writes its kernels as PTX and runs NVIDIA's ptxas on them. It searches --xla_gpu_cuda_data_dir, PATH, /usr/local/cuda and
    pip's nvidia/cuda_nvcc. Keras 3 compiles models with XLA by default (jit_compile="auto"), so model.fit fails without it.
Verify:
    gpucheck trains one XLA-compiled step on the GPU.
Unless:
    You compile every model with jit_compile=False and use XLA nowhere else.
Example:
    packages.and_cuda[2].installed = null
    packages.and_cuda[2].satisfied = null
    libraries.ptxas = {}
    training.runs = []
    log.events = [{"kind": "ptxas-missing", "line": 9, "text": "No PTX compilation provider is available.", "fields": {}}]
    -> ptxas is not installed; XLA, which Keras 3 uses by default to compile models, needs it for the GPU.
References:
    https://openxla.org/xla/flags_guidance
    https://www.tensorflow.org/install/pip
"""

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.combiners.xla_toolkit import XlaToolkit
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.probes.environment import Environment
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._cuda_builds import jax_build
from gpucheck.core.rules.gpu_not_detected._xla import missing_tool, tool_repairs

_OF_PIP = (
    'export XLA_FLAGS="--xla_gpu_cuda_data_dir=$(python -c \'import sysconfig; print(sysconfig.get_path("purelib"))\')'
    '/nvidia/cuda_nvcc${XLA_FLAGS:+ $XLA_FLAGS}"'
)


@rule(scope=Scope.ENVIRONMENT, explains=("libdevice-missing", "training-failed", "training-crashed"))
def check(
    faults: LibraryFaults, outcomes: TrainingOutcomes, toolkit: XlaToolkit, environment: Environment | None, context: Context
) -> Finding | Skip | None:
    """Report that XLA can't find ptxas, unless a compiled step on a GPU passed without it."""
    return missing_tool("ptxas", faults, outcomes, toolkit, environment, context)


def repairs(context: Context, *, needed: str = "", buggy: str = "", instead: str = "") -> Fixes:
    """Install ptxas on XLA's search path, or set its folder.

    Args:
        context: what is known about the machine.
        needed: the PTX version that the installed ptxas is too old for.
        buggy: the installed version, if XLA rejects it because of bugs.
        instead: "driver" if the driver compiles, because ptxas is older than the GPU.
    """
    if not (needed or buggy or instead):
        yield from tool_repairs(context, "ptxas")
        return
    if context.excludes(framework="tensorflow|torch"):
        yield jax_build(context)
    else:
        newer = context.pip("--upgrade", "nvidia-cuda-nvcc-cu12>=12.4,<13")
        yield Fix(text="Install a newer ptxas", command=newer)
    named = Fix(text="If XLA still finds a toolkit's ptxas first: set the folder of pip's, before Python starts", command=_OF_PIP)
    yield from context.only(named, system="linux|wsl")
