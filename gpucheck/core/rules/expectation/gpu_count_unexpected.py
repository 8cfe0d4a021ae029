"""This process can use more or fewer GPUs than were expected of this machine.

Symptom:
    - gpucheck --expect expected.toml: number of GPUs is 7, where 8 was expected.
    - A node of a fleet offers seven of its eight GPUs, and every check of those seven is fine
Cause:
    A GPU fell off the bus or was never put in, the scheduler or the container granted another number, CUDA_VISIBLE_DEVICES hides
    some, or the job was put on another kind of machine. Where another diagnosis stands above this one, it says which.
Fix:
    1. Follow the diagnosis above this one, if there is one
    2. Count on every level
       ? lspci -d 10de: | grep -c -E '3D|VGA'; nvidia-smi -L; echo "$CUDA_VISIBLE_DEVICES"
    3. In a container or a job, ask for as many as are expected: docker run --gpus all, --gres=gpu:8, nvidia.com/gpu: 8
       needs: network
Verify:
    gpucheck --quick --expect expected.toml: "No fault found".
Unless:
    The machine is meant to have that many: change gpu.count, or take the snapshot again.
Example:
    request.expectations.gpu.count = 8
    -> Number of GPUs is 1, where 8 was expected.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables
"""

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip
from gpucheck.core.model.plugin import rule
from gpucheck.core.rules.expectation._judge import judge


@rule(severity=Severity.ERROR, scope=Scope.HARDWARE)
def check(expected: Expected) -> Finding | Skip | None:
    """The number that CUDA counts, which is what training gets; NVML's where CUDA could not say."""
    return judge(
        expected,
        expected.gpu_count,
        " is",
        Fix(text="Compare with what the driver counts, apart from CUDA_VISIBLE_DEVICES", command="nvidia-smi -L", kind="look"),
        Fix(
            text="In a container or a job, ask for as many as are expected (docker run --gpus, --gres=gpu:N, nvidia.com/gpu)",
            needs=("network",),
        ),
    )
