"""An environment variable does not have the value that was expected.

Symptom:
    - gpucheck --expect expected.toml: XLA_FLAGS is "--xla_gpu_autotune_level=0", expected not set.
    - The same script gives different results, or trains at a different speed, in another shell, image or scheduler
Cause:
    A shell's startup file, an image, a module or the scheduler sets the variable, or no longer sets it. Flags of CUDA,
    TensorFlow, XLA and NCCL change how a job trains, without a message.
Verify:
    gpucheck --quick --expect expected.toml: "No fault found".
Unless:
    The change is intended: change the line in the file.
Example:
    request.expectations.environment = {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"}
    environment.variables = {}
    -> TF_XLA_FLAGS is not set, expected "--tf_xla_auto_jit=2".
References:
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    https://openxla.org/xla/flags_guidance
"""

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.expectations.items import Item
from gpucheck.core.expectations.versions import UNSET
from gpucheck.core.model import Assignment, Finding, Fix, Fixes, Operation, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.expectation._judge import judge
from gpucheck.core.system.shells import statement


@rule(scope=Scope.ENVIRONMENT)
def check(expected: Expected, context: Context) -> Finding | Skip | None:
    """Report variables that don't have the expected value."""
    return judge(expected, expected.environment, " is", lambda unmet: repairs(context, command=_command(unmet)))


def repairs(context: Context, *, command: str | None = None) -> Fixes:
    """Set the variables; the same fix on every machine.

    Args:
        context: what is known about the machine.
        command: sets or unsets the variables; None: unknown.
    """
    yield Fix(text="Set the environment as expected where the job starts", command=command)
    yield Fix(text="If the current environment is right, change the file")


def _command(unmet: list[Item]) -> str:
    return " && ".join(statement(_assignment(item)) for item in unmet)


def _assignment(item: Item) -> Assignment:
    if item.expected == UNSET:
        return Assignment(variable=item.what, operation=Operation.UNSET, reason="")
    return Assignment(variable=item.what, operation=Operation.SET, value=item.expected[1:-1], reason="")
