"""NCCL, the library through which GPUs exchange gradients, failed.

Symptom:
    NcclAllReduce ... unhandled system error
    NCCL WARN Cuda failure 'peer access is not supported between these two devices'
    NCCL WARN Error while creating shared memory segment
    Training on several GPUs stands still before its second step, and nvidia-smi shows 100 % on all of them
Cause:
    NCCL needs a path between the GPUs: peer access over NVLink or PCIe, else shared memory, and a network interface between
    machines. Too little /dev/shm, PCIe access control (ACS) in the firmware, a broken link, or NCCL_* variables that name the
    wrong interface end here.
Fix:
    1. See what it says itself
       $ export NCCL_DEBUG=INFO
    2. Try without peer access; if that helps, the path between the GPUs is the fault (ACS, NVLink). Then without NCCL_SHM, NCCL_IB
       $ export NCCL_P2P_DISABLE=1
    3. Meanwhile train without it: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
Verify:
    gpucheck --strategy mirrored
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

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Scope, Severity, Skip, TrainingRun
from gpucheck.probes.log import Log
from gpucheck.probes.training import Training
from gpucheck.rules._exchange import cured, instead, sentence
from gpucheck.rules._training import failure, label, on_gpu

FAILED = r"(?i)\bnccl"


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=("training-failed", "training-crashed"))
def check(training: Training | None, log: Log | None) -> Finding | Skip | None:
    """A run's reason, or a line of a run that did not pass, names NCCL; or the run passes as soon as NCCL is left out."""
    without = cured(training)
    cure = training.runs[without[1]] if training is not None and without is not None else None
    seen = failure(training, log, FAILED, "nccl-failed")
    if seen is not None and not isinstance(seen, Skip):
        return Finding(
            summary=f"NCCL failed{f' in {label(seen.run)}' if seen.run is not None else ''}: {seen.text}.",
            evidence=seen.evidence,
            fix=_fix(cure),
            affects=seen.affects,
        )
    if training is None or without is None or cure is None or not on_gpu(cure):
        return seen
    summary, evidence = sentence(training, *without, "NCCL")
    return Finding(summary=summary, evidence=evidence, fix=_fix(cure), affects=cure.devices)


def _fix(cure: TrainingRun | None) -> tuple[Fix, ...]:
    """What to do; first what was tried here and helped."""
    fixes = (
        Fix(text="See what NCCL says itself when the job runs again", command="export NCCL_DEBUG=INFO"),
        Fix(
            text="Try without peer access; if that helps, the path between the GPUs is the fault (ACS, NVLink)",
            command="export NCCL_P2P_DISABLE=1",
        ),
    )
    return (instead(cure), *fixes) if cure is not None else (*fixes, instead(None))
