"""XLA can't find libdevice.10.bc, CUDA's library of mathematical functions for compilers.

Symptom:
    Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice
    libdevice not found at ./libdevice.10.bc
    INTERNAL: libdevice not found at ./libdevice.10.bc [Op:__inference_one_step_on_data]
Cause:
    XLA links libdevice into the kernels that it generates. It searches --xla_gpu_cuda_data_dir, /usr/local/cuda, pip's
    nvidia/cuda_nvcc, and finally the working directory. Keras 3 compiles models with XLA by default (jit_compile="auto").
Verify:
    gpucheck trains one XLA-compiled step on the GPU.
Unless:
    You compile every model with jit_compile=False and use XLA nowhere else.
Example:
    packages.and_cuda[2].installed = null
    packages.and_cuda[2].satisfied = null
    libraries.ptxas.elsewhere = []
    libraries.libdevice = {}
    training.runs = []
    log.events = [{"kind": "libdevice-missing", "line": 9, "text": "libdevice not found at ./libdevice.10.bc", "fields": {"path": "./libdevice.10.bc"}}]
    -> libdevice.10.bc is not installed; XLA, which Keras 3 uses by default to compile models, links it into every GPU kernel.
References:
    https://openxla.org/xla/flags_guidance
    https://www.tensorflow.org/install/pip
"""

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.combiners.xla_toolkit import XlaToolkit
from gpucheck.core.model import Finding, Fixes, Scope, Skip, rule
from gpucheck.core.probes.environment import Environment
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._xla import missing_tool, tool_repairs


@rule(scope=Scope.ENVIRONMENT, explains=("training-failed", "training-crashed"))
def check(
    faults: LibraryFaults, outcomes: TrainingOutcomes, toolkit: XlaToolkit, environment: Environment | None, context: Context
) -> Finding | Skip | None:
    """Report that XLA can't find libdevice, unless a compiled step on a GPU passed without it."""
    return missing_tool("libdevice", faults, outcomes, toolkit, environment, context)


def repairs(context: Context, *, toolkit: str = "") -> Fixes:
    """Install libdevice on XLA's search path, or set its folder.

    Args:
        context: what is known about the machine.
        toolkit: non-empty if XLA also searched the toolkit's usual folder.
    """
    yield from tool_repairs(context, "libdevice", searched=bool(toolkit))
