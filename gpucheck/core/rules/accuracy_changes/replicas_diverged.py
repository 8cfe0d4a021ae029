"""Replicas that must have the same weights have different ones.

Symptom:
    Accuracy drops with the number of GPUs, or a checkpoint evaluates differently from one machine to the next.
    gpucheck: replicas_equal is false.
    FloatingPointError: Fatal error: gradients are inconsistent between workers.
    RuntimeError: DDP expects same model across all ranks, but Rank 0 has 10 params, while rank 1 has inconsistent 12 params.
Cause:
    In synchronous training every replica applies the same summed gradient, so the weights stay equal to the last bit. If they
    don't, gradients were lost or damaged on the way: a faulty link or GPU, an NCCL that mixes versions, or variables that were
    made outside the strategy's scope.
Fix:
    1. Build model and optimizer inside: with strategy.scope(): ...
    2. Build the same model on every replica: the same code, configuration, random seed and checkpoint
    3. Compare the libraries of the machines
       ? python -m pip freeze | sort | sha256sum
    4. Train without NCCL: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
    5. If that helps, check the links, and the kernel log for Xid lines
       ? nvidia-smi nvlink --status; nvidia-smi topo -m
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
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.training import Training

EXCHANGE = (
    Fix(
        text="Train without NCCL and compare:"
        " tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())"
    ),
    Fix(text="If that helps, check the links between the GPUs", command="nvidia-smi topo -m", kind="look"),
)
FRESH = Fix(text="Install TensorFlow in a fresh environment, and compare again")
SCOPE = Fix(text="In your own program, build model and optimizer inside strategy.scope()")


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=("nccl-failed", "training-failed", "training-crashed"))
def check(training: Training) -> Finding | Skip | None:
    """The weights of a run's replicas were compared and differ."""
    compared = [(place, run) for place, run in enumerate(training.runs) if run.replicas_equal is not None]
    for place, run in compared:
        if run.replicas_equal is False:
            return Finding(
                summary=f"After training with {label(run)}, the {run.replicas} replicas have different weights.",
                evidence=saw(training, f"runs[{place}].replicas_equal", f"runs[{place}].replicas"),
                fix=(*(EXCHANGE if on_gpu(run) else (FRESH,)), SCOPE),
                affects=run.devices,
            )
    return None if compared else Skip("no training with several replicas was run to its end")
