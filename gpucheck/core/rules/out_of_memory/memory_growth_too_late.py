"""Memory growth was requested after TensorFlow had already initialized the GPU.

Symptom:
    RuntimeError: Physical devices cannot be modified after being initialized
    RuntimeError: Virtual devices cannot be modified after being initialized
    RuntimeError: Visible devices cannot be modified after being initialized
Cause:
    set_memory_growth, set_logical_device_configuration and set_visible_devices in tf.config only work before the first operation, tensor or tf.distribute strategy uses the GPU.
    Something ran earlier: an import that builds a model, an earlier notebook cell, or a Python start-up file.
Verify:
    The call returns without an exception, and nvidia-smi shows memory that grows with the model.
Unless:
    TensorFlow may take all memory of the GPU: then remove the call.
Example:
    tensorflow.memory_growth = {"settable": false, "problem": "RuntimeError: Physical devices cannot be modified after being initialized"}
    -> Memory growth was requested too late: TensorFlow had already initialized the GPU (Physical devices cannot be modified after being initialized).
References:
    https://www.tensorflow.org/api_docs/python/tf/config/experimental/set_memory_growth
"""

import re

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import GROWTH_TOO_LATE
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context

TOO_LATE = r"Physical devices cannot be modified after being initialized"
# The call that configures devices of each kind, and the variable that does the same.
_CALLS = {
    "Physical": (
        'for gpu in tf.config.list_physical_devices("GPU"): tf.config.experimental.set_memory_growth(gpu, True)',
        "TF_FORCE_GPU_ALLOW_GROWTH=true",
    ),
    "Visible": ('tf.config.set_visible_devices(gpus[0], "GPU")', "CUDA_VISIBLE_DEVICES=0"),
    **dict.fromkeys(("Virtual", "Logical"), ("tf.config.set_logical_device_configuration(...)", "")),
}


@rule(scope=Scope.CODE, explains=("training-failed",), first_check="where the program configures its GPUs")
def check(
    tensorflow: TensorFlow | None, outcomes: TrainingOutcomes, log_causes: LogCauses, context: Context
) -> Finding | Skip | None:
    """Report that TensorFlow refused memory growth for that reason, in gpucheck's own run or in the log."""
    growth = tensorflow.memory_growth if tensorflow is not None else None
    if growth is not None and growth.settable is False:
        if not re.search(TOO_LATE, growth.problem or ""):
            return None
        evidence: tuple[Evidence, ...] | None = saw(tensorflow, "memory_growth.problem")
    elif tensorflow is not None and tensorflow.devices is not None:
        return None  # it was set in time, or there is no GPU; a later rejection is about gpucheck's own request
    else:
        evidence = log_causes.evidence_of("memory-growth-too-late")
    if evidence is None:
        return outcomes.skip
    return Finding(
        summary=GROWTH_TOO_LATE,
        evidence=evidence,
        fix=repairs(context),
    )


def repairs(context: Context, *, devices: str = "") -> Fixes:
    """Configure the GPUs earlier.

    Args:
        context: what is known about the machine.
        devices: which devices TensorFlow's message names: "Physical", "Virtual", "Logical", "Visible"; empty: the first of them.
    """
    call, variable = _CALLS.get(devices, _CALLS["Physical"])
    if context.notebook:
        yield Fix(text="Restart the session, and configure the GPUs in the first cell, before anything else uses TensorFlow")
    else:
        yield Fix(
            text="Make the call right after the import, before any model, tensor or strategy (in a notebook, restart the kernel):"
            f" {call}"
        )
    if variable:
        yield Fix(text="Or remove the call, and set the variable before the program starts", command=f"export {variable}")
