"""XLA can't find ptxas, the assembler that it needs to compile for an NVIDIA GPU.

Symptom:
    No PTX compilation provider is available. Neither ptxas/nvlink nor nvtjlink is available.
    Couldn't get ptxas version : FAILED_PRECONDITION: Couldn't get ptxas/nvlink version string
    Can't find ptxas binary in ${CUDA_DIR}/bin. Custom ptxas location can be specified using $PATH.
Cause:
    XLA writes its kernels as PTX and runs NVIDIA's ptxas on them. It searches --xla_gpu_cuda_data_dir, PATH, /usr/local/cuda and
    pip's nvidia/cuda_nvcc. Keras 3 compiles models with XLA by default (jit_compile="auto"), so model.fit fails without it.
Fix:
    1. Install NVIDIA's compiler tools
       $ python -m pip install "nvidia-cuda-nvcc-cu12>=12.5,<13.0"
    2. Or name the folder of an installed toolkit, before Python starts
       $ export PATH="/usr/local/cuda/bin:$PATH"
    3. Or disable XLA in your code: model.compile(..., jit_compile=False)
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
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Assignment, Finding, Operation, Scope, Severity, Skip
from gpucheck.core.model.plugin import rule
from gpucheck.core.rules.gpu_not_detected._xla import XlaTool, missing_tool

_PTXAS = XlaTool(
    field="ptxas",
    event=Kind.PTXAS_MISSING,
    name="ptxas",
    need="needs it for the GPU",
    reach=lambda copy: Assignment(
        variable="PATH", operation=Operation.PREPEND, value=copy.rpartition("/")[0], reason="ptxas is there"
    ),
)


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=("libdevice-missing", "training-failed", "training-crashed"))
def check(faults: LibraryFaults, outcomes: TrainingOutcomes, toolkit: XlaToolkit) -> Finding | Skip | None:
    """Not where XLA looks, and no compiled step on a GPU that went well without it."""
    return missing_tool(_PTXAS, faults, outcomes, toolkit)
