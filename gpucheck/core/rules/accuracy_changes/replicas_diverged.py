"""Replicas that must have the same weights have different weights.

Symptom:
    - Accuracy drops with the number of GPUs, or a checkpoint evaluates differently from one machine to the next.
    - gpucheck: replicas_equal is false.
    FloatingPointError: Fatal error: gradients are inconsistent between workers.
    RuntimeError: DDP expects same model across all ranks, but Rank 0 has 10 params, while rank 1 has inconsistent 12 params.
Cause:
    In synchronous training every replica applies the same summed gradient, so the weights stay equal to the last bit. If they
    don't, gradients were lost or damaged in transit by a faulty link or GPU or by mixed NCCL versions, or variables were created
    outside the strategy's scope.
Verify:
    gpucheck --strategy mirrored: replicas_equal is true.
Unless:
    Variables are per replica on purpose (BatchNormalization's moving averages under ON_READ): gpucheck compares trainable weights.
Example:
    machine: hgx-h200
    training.runs[8].status = "failed"
    training.runs[8].stage = "verify"
    training.runs[8].reason = "the replicas' weights differ"
    training.runs[8].replicas_equal = false
    -> After training with mirrored on GPU:0-7, the 8 replicas have different weights.
References:
    https://www.tensorflow.org/guide/distributed_training#mirroredstrategy
"""

from gpucheck.core.combiners.training_outcomes import label, on_gpu
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import NEW_ENVIRONMENT


@rule(
    scope=Scope.HOST,
    explains=("nccl-failed", "training-failed", "training-crashed"),
    first_check="whether all replicas start from the same weights",
)
def check(training: Training, context: Context) -> Finding | Skip | None:
    """Report replicas whose weights differ."""
    compared = [(place, run) for place, run in enumerate(training.runs) if run.replicas_equal is not None]
    for place, run in compared:
        if run.replicas_equal is False:
            return Finding(
                summary=f"After training with {label(run)}, the {run.replicas} replicas have different weights.",
                evidence=saw(training, f"runs[{place}].replicas_equal", f"runs[{place}].replicas"),
                fix=repairs(context, own_model=True, gpu=on_gpu(run)),
                affects=run.devices,
            )
    return None if compared else Skip("no training with several replicas was completed")


def repairs(context: Context, *, own_model: bool = False, gpu: bool = True) -> Fixes:
    """Build identical replicas, and exchange all of their gradients.

    Args:
        context: what is known about the machine.
        own_model: whether it is gpucheck's own model, whose replicas are equal on a healthy machine.
        gpu: whether it was trained on GPUs.
    """
    keras = context.framework in (None, "tensorflow")
    if not own_model:
        yield Fix(text="Build the same model on every replica: the same code, configuration, random seed and checkpoint")
        if keras:
            yield Fix(text="Build model and optimizer inside: with strategy.scope():")
    if keras and gpu:
        yield Fix(
            text="Train without NCCL and compare:"
            " tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())"
        )
    if own_model and not gpu:
        yield NEW_ENVIRONMENT
    if not own_model:
        yield Fix.look("Compare the packages of the machines", f"{context.python} -m pip freeze | sort | sha256sum")
    if gpu:
        yield Fix.look("Check the links between the GPUs", "nvidia-smi topo -m")
