"""NCCL, the library that GPUs use to exchange gradients, failed.

Symptom:
    NcclAllReduce ... unhandled system error
    NCCL WARN Cuda failure 'peer access is not supported between these two devices'
    NCCL WARN Error while creating shared memory segment
    Training on several GPUs stands still before its second step, and nvidia-smi shows 100 % on all of them
Cause:
    NCCL needs a path between the GPUs: peer access over NVLink or PCIe, else shared memory, and a network interface between
    machines. Common causes are too little /dev/shm, PCIe access control (ACS) in the firmware, a broken link, or NCCL_* variables
    that name the wrong interface.
Fix:
    1. Make NCCL print what it does
       ? export NCCL_DEBUG=INFO
    2. Try without peer access; if that helps, the path between the GPUs is the fault (ACS, NVLink). Then without NCCL_SHM, NCCL_IB
       $ export NCCL_P2P_DISABLE=1
    3. Meanwhile train without it: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
Verify:
    $ gpucheck --strategy mirrored
Unless:
    The line "not using nccl allreduce" on a single GPU or a CPU is harmless.
Example:
    machine: hgx-h200
    training.runs[8].status = "failed"
    training.runs[8].stage = "first step"
    training.runs[8].reason = "InternalError: NCCL: unhandled system error (run with NCCL_DEBUG=INFO for details)"
    -> NCCL failed in mirrored on GPU:0-7: InternalError: NCCL: unhandled system error (run with NCCL_DEBUG=INFO for details).
References:
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.nccl_trial import NcclTrial
from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip
from gpucheck.core.model.plugin import rule

FAILED = r"(?i)\bnccl"
FIX = (
    Fix(text="Make NCCL print what it does when the job runs again", command="export NCCL_DEBUG=INFO", kind="look"),
    Fix(
        text="Try without peer access; if that helps, the path between the GPUs is the fault (ACS, NVLink)",
        command="export NCCL_P2P_DISABLE=1",
    ),
)


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=("training-failed", "training-crashed"))
def check(trial: NcclTrial, log_causes: LogCauses) -> Finding | Skip | None:
    """A run's reason, or a line of a run that did not pass, names NCCL; or the run passes as soon as NCCL is left out."""
    fix = (trial.fix, *FIX) if trial.cure is not None else (*FIX, trial.fix)
    if (failure := log_causes.failure("nccl-failed", FAILED, "NCCL failed in {run}: {text}.", fix)) is not None:
        return failure
    if trial.cure is None or not on_gpu(trial.cure):
        return log_causes.outcomes.skip
    return Finding(summary=trial.sentence("NCCL"), evidence=trial.evidence, fix=fix, affects=trial.cure.devices)
