"""Memory growth was enabled for some GPUs only.

Symptom:
    ValueError: Memory growth cannot differ between GPU devices
Cause:
    TensorFlow requires the same setting for all GPUs that it uses. The program set it for gpus[0] only, but TensorFlow sees more.
    TF_FORCE_GPU_ALLOW_GROWTH does not help while the program makes that call: TensorFlow compares the calls first.
Verify:
    All values of [tf.config.experimental.get_memory_growth(g) for g in tf.config.list_physical_devices("GPU")] are equal.
Unless:
    Never: TensorFlow refuses to start its GPUs this way.
Example:
    machine: hgx-h200
    tensorflow.memory_growth = {"settable": true, "same_on_all": false, "problem": "ValueError: Memory growth cannot differ between GPU devices"}
    -> Memory growth is not the same on all 8 GPUs, so TensorFlow refuses to initialize them.
References:
    https://www.tensorflow.org/api_docs/python/tf/config/experimental/set_memory_growth
"""

import re

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context

MIXED = r"Memory growth cannot differ between GPU devices"


@rule(scope=Scope.CODE, explains=("training-failed",), first_check="where the program configures its GPUs")
def check(
    tensorflow: TensorFlow | None, outcomes: TrainingOutcomes, log_causes: LogCauses, context: Context
) -> Finding | Skip | None:
    """Report TensorFlow's own error when it starts the GPUs, or settings that differ when they are read back."""
    growth = tensorflow.memory_growth if tensorflow is not None else None
    gpus = [device for device in (tensorflow.devices or ()) if device.kind == "GPU"] if tensorflow is not None else []
    if growth is not None and (growth.same_on_all is False or re.search(MIXED, growth.problem or "")):
        evidence: tuple[Evidence, ...] | None = saw(tensorflow, "memory_growth.same_on_all", "memory_growth.problem")
    else:
        evidence = log_causes.evidence_of("memory-growth-mixed")
    if evidence is None:
        return None if growth is not None and growth.same_on_all else outcomes.skip
    return Finding(
        summary=f"Memory growth is not the same on all {f'{len(gpus)} ' if len(gpus) > 1 else ''}GPUs, so TensorFlow"
        " refuses to initialize them.",
        evidence=evidence,
        fix=repairs(context),
    )


def repairs(context: Context) -> Fixes:
    """Make the program's calls the same for all GPUs."""
    yield Fix(
        text="Call it for every GPU, right after the import:"
        ' for gpu in tf.config.list_physical_devices("GPU"): tf.config.experimental.set_memory_growth(gpu, True)'
    )
    yield Fix(text="Or make only the GPU that it uses visible to the program", command="export CUDA_VISIBLE_DEVICES=0")
    yield Fix(
        text="Or remove all calls of set_memory_growth, and enable it with a variable",
        command="export TF_FORCE_GPU_ALLOW_GROWTH=true",
    )
