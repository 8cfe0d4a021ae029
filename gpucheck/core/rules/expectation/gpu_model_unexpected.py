"""A GPU is of another model, or has less memory or a lower compute capability, than was expected of this machine.

Symptom:
    - gpucheck --expect expected.toml: GPU 0: NVIDIA L4, expected NVIDIA H200.
Cause:
    The job was put on another kind of machine, a board was exchanged, or a partition of a GPU (MIG) is offered instead of the whole.
    Models that were sized for the expected memory will run out of it, and a lower compute capability brings other kernels.
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
    """Compare every GPU as reported by NVML, else by CUDA; clear without a GPU."""
    return judge(expected, expected.gpu_models, ":", lambda unmet: repairs(context, wanted=unmet[0].expected), Action.DRAIN)


def repairs(context: Context, *, wanted: str = "") -> Fixes:
    """Run on a machine with the expected GPUs.

    Args:
        context: where.
        wanted: the expected property: "NVIDIA H200", "at least 80 GiB of memory".
    """
    have = f" with {wanted}" if wanted else ""
    if context.excludes(container="kubernetes"):
        where = "name the model where the job is submitted, in Slurm --gres=gpu:MODEL:COUNT"
    else:
        where = "name the model where the job is submitted: --gres=gpu:MODEL:COUNT, a nodeSelector on nvidia.com/gpu.product"
    yield Fix(text=f"Run on a machine{have}: {where}")
    yield SNAPSHOT
    yield Fix.look("Check whether MIG divides the GPU", "nvidia-smi -L")
