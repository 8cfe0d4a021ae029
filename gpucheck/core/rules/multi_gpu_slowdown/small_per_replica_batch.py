"""Each replica gets such a small batch that several GPUs spend their time on overhead.

Symptom:
    - Two GPUs are slower than one, but not with a larger batch.
    - nvidia-smi shows a low GPU utilization on every GPU, although the input pipeline keeps up.
Cause:
    The global batch is divided among the replicas. Each step has a fixed cost, for starting kernels and summing gradients, that
    does not shrink with the batch. With too few samples per replica, it outweighs the computation.
Verify:
    gpucheck --full: with the larger batch, scaling_efficiency is above 0.8.
Unless:
    The larger batch does not fit into the GPU's memory, or costs accuracy: then fewer GPUs do the same work.
Example:
    machine: hgx-h200
    training.runs[8].scaling_efficiency = 0.55
    training.runs[8].doubled_batch_scaling_efficiency = 0.78
    -> With 64 samples per replica, mirrored on GPU:0-7 uses 55 % of its devices; with 128, it uses 78 %.
References:
    https://www.tensorflow.org/guide/keras/distributed_training
"""

from gpucheck.core.combiners.scaling import Scaling
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule
from gpucheck.core.repairs.context import Context


@rule(severity=Severity.WARNING, scope=Scope.CODE, explains=("scaling-inefficient",))
def check(scaling: Scaling, outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Report a run below the expected efficiency that clearly improves with a doubled batch."""
    if not scaling.several:
        return None
    small = next((scaled for scaled in scaling.inefficient if scaled.larger_batch_helps), None)
    if small is None:
        tried = any(scaled.run.doubled_batch_scaling_efficiency is not None for scaled in scaling.measured)
        return None if tried else Skip("scaling over several GPUs was not measured with two batch sizes")
    run, batch = small.run, small.run.per_replica_batch_size
    doubled = run.doubled_batch_scaling_efficiency or 0.0
    first = f"With {batch} samples per replica," if batch else "With this batch,"
    second = f"with {2 * batch}," if batch else "with twice as many,"
    names = ("scaling_efficiency", "doubled_batch_scaling_efficiency", "per_replica_batch_size")
    return Finding(
        summary=f"{first} {label(run)} uses {100 * small.efficiency:.0f} % of its devices; {second} it uses {100 * doubled:.0f} %.",
        evidence=outcomes.saw_run(small.place, *names),
        fix=repairs(context),
        affects=run.devices,
    )


def repairs(context: Context) -> Fixes:
    """Give each replica more work per step; the same fix on every machine."""
    yield Fix(text="Scale the global batch: batch_size = per_replica * strategy.num_replicas_in_sync, with a larger per_replica")
    yield Fix(text="Scale the learning rate with it, warm it up, and compare the accuracy")
    yield Fix(text="Run several steps per call: model.compile(..., steps_per_execution=10)")
