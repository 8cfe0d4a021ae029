"""A GPU is a different model, or has less memory or a lower compute capability, than expected.

Symptom:
    - gpucheck --expect expected.toml: GPU 0: NVIDIA L4, expected NVIDIA H200.
Cause:
    The job runs on a different kind of machine, a board was replaced, or the job got a partition of a GPU (MIG) instead of a
    whole GPU. Models that were sized for the expected memory run out of it, and a lower compute capability means different
    kernels.
Verify:
    gpucheck --quick --expect expected.toml: "No fault found".
Unless:
    Other models are fine: add them to gpu.names (patterns such as "NVIDIA H*" work), or take the snapshot again.
Example:
    request.expectations.gpu.memory_gib = 179
    -> GPU 0: 140.4 GiB of memory, expected at least 179 GiB of memory.
References:
    https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
    https://developer.nvidia.com/cuda-gpus
"""

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.expectation._judge import SNAPSHOT, judge


@rule(scope=Scope.HARDWARE)
def check(expected: Expected, context: Context) -> Finding | Skip | None:
    """Compare every GPU as reported by NVML, else by CUDA; report nothing without a GPU."""
    return judge(expected, expected.gpu_models, ":", lambda unmet: repairs(context, expected=unmet[0].expected), Action.DRAIN)


def repairs(context: Context, *, expected: str = "") -> Fixes:
    """Run on a machine with the expected GPUs.

    Args:
        context: what is known about the machine.
        expected: the expected property: "NVIDIA H200", "at least 80 GiB of memory".
    """
    have = f" with {expected}" if expected else ""
    if context.excludes(container="kubernetes"):
        where = "request the model when the job is submitted, in Slurm --gres=gpu:MODEL:COUNT"
    else:
        where = "request the model when the job is submitted: --gres=gpu:MODEL:COUNT, a nodeSelector on nvidia.com/gpu.product"
    yield Fix(text=f"Run on a machine{have}: {where}")
    yield SNAPSHOT
    yield Fix.look("Check whether MIG divides the GPU", "nvidia-smi -L")
