"""A GPU is of another model, or has less memory or a lower compute capability, than was expected of this machine.

Symptom:
    - gpucheck --expect expected.toml: GPU 0: NVIDIA L4, where NVIDIA H200 was expected.
Cause:
    The job was put on another kind of machine, a board was exchanged, or a partition of a GPU (MIG) is offered instead of the whole.
    Models that were sized for the expected memory will run out of it, and a lower compute capability brings other kernels.
Fix:
    1. Ask the scheduler for the model by name: --gres=gpu:h200:8, a nodeSelector on nvidia.com/gpu.product, another machine type
    2. Look whether MIG divides it
       ? nvidia-smi -L
Verify:
    gpucheck --quick --expect expected.toml: "No fault found".
Unless:
    Other models are fine: add them to gpu.names (patterns such as "NVIDIA H*" work), or take the snapshot again.
Example:
    request.expectations.gpu.memory_gib = 179
    -> GPU 0: 140.4 GiB of memory, where at least 179 GiB of memory was expected.
References:
    https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
    https://developer.nvidia.com/cuda-gpus
"""

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip
from gpucheck.core.model.plugin import rule
from gpucheck.core.rules.expectation._judge import judge


@rule(severity=Severity.ERROR, scope=Scope.HARDWARE)
def check(expected: Expected) -> Finding | Skip | None:
    """NVML's words about every GPU, or CUDA's; without any GPU there is nothing to compare."""
    return judge(
        expected,
        expected.gpu_models,
        ":",
        Fix(text="Run on a machine with the expected GPUs: name the model where the job is submitted"),
        Fix(text="Look whether MIG divides the GPU", command="nvidia-smi -L", kind="look"),
    )
