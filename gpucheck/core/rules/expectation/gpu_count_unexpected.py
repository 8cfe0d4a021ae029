"""This process can use more or fewer GPUs than expected.

Symptom:
    - gpucheck --expect expected.toml: number of GPUs is 7, expected 8.
    - A node of a fleet offers seven of its eight GPUs, and those seven pass every check
Cause:
    A GPU fell off the bus or was never installed, the scheduler or the container granted a different number, CUDA_VISIBLE_DEVICES
    hides some, or the job runs on a different kind of machine. If another diagnosis is listed first, it identifies the cause.
Verify:
    gpucheck --quick --expect expected.toml: "No fault found".
Unless:
    This number is intended: change gpu.count, or take the snapshot again.
Example:
    request.expectations.gpu.count = 8
    -> Number of GPUs is 1, expected 8.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables
"""

import re

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.expectations.items import Item
from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.expectation._judge import SNAPSHOT, judge


@rule(scope=Scope.HARDWARE)
def check(expected: Expected, context: Context) -> Finding | Skip | None:
    """Compare the number of GPUs: CUDA's, which training uses, else NVML's."""

    def of(unmet: list[Item]) -> Fixes:
        count = re.sub(r"\D*(\d+).*", r"\1", unmet[0].expected)  # "8", "at least 8 (--gres)"
        return repairs(context, seen=unmet[0].observed, expected=count)

    return judge(expected, expected.gpu_count, " is", of, Action.DRAIN)


def repairs(context: Context, *, seen: str = "", expected: str = "") -> Fixes:
    """Get the missing GPUs, or leave the extra ones unused.

    Args:
        context: what is known about the machine.
        seen: the number found; empty: unknown.
        expected: the expected number.
    """
    if seen.isdecimal() and expected.isdecimal() and int(seen) > int(expected):
        yield SNAPSHOT
        yield Fix(text=f"Or run this job on a machine with {expected} GPUs, or request only that many from the scheduler")
        return
    count = expected or "N"
    if context.kinds["container"] != "":
        docker = Fix(text="Start the container with all GPUs: docker run --gpus all IMAGE", needs=("network",))
        pod = Fix(text=f'Request them in the container\'s specification: resources.limits["nvidia.com/gpu"]: {count}')
        yield from context.only(docker, container="docker|containerd")
        yield from context.only(pod, container="kubernetes")
    yield from context.only(Fix(text=f"Request them for the job: --gres=gpu:{count}"), scheduler="slurm")
    yield Fix(text="If one is also missing from the bus, start no jobs on this machine, and have it restarted or repaired")
    yield Fix.look(
        "Compare the GPUs on the bus, in the driver and visible to this process",
        "lspci -d 10de: | grep -c -E '3D|VGA'; nvidia-smi -L; echo \"$CUDA_VISIBLE_DEVICES\"",
    )
    if not expected:
        yield SNAPSHOT
