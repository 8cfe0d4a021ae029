"""The training job ran, and its model did not learn.

Symptom:
    The loss stays where it was, or grows, although the data can be learnt.
    gpucheck: loss_fell is false, or gradients_reach_weights is false.
Cause:
    gpucheck trains a small model on generated data that can be learnt in a few steps. If the model does not learn, gradients are
    lost or wrong on this device: a faulty GPU, a broken library, or replicas that don't exchange gradients.
Fix:
    1. Train on one batch until the model has memorized it; if that fails, check labels, loss and learning rate
    2. Check whether this machine can train, and compare with the CPU
       ? gpucheck; CUDA_VISIBLE_DEVICES= gpucheck --allow-cpu
    3. Train without XLA (model.compile(..., jit_compile=False)) and in float32, to find the faulty part
    4. Reinstall TensorFlow and its CUDA libraries in a fresh environment
    5. If it persists, test the GPU, as an administrator
       ? dcgmi diag -r 3
Verify:
    gpucheck: the loss of each run falls.
Unless:
    Never: with gpucheck's data the loss must fall.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "verify"
    training.runs[0].reason = "the loss did not fall"
    training.runs[0].loss = {"first": 2.41, "last": 2.44, "first_third": 2.41, "last_third": 2.45}
    training.runs[0].loss_fell = false
    -> The model did not learn in one_device on GPU:0: its mean loss was 2.41 in the first third of the steps, 2.45 in the last.
References:
    https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-diagnostics.html
"""

from gpucheck.core.combiners.training_outcomes import label, on_gpu
from gpucheck.core.model import Finding, Fix, Scope, Severity, TrainingRun, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.fixes import TEST_GPU


@rule(severity=Severity.ERROR, scope=Scope.CODE, explains=("training-failed",))
def check(training: Training) -> Finding | None:
    """The loss did not fall, or some weights never changed."""
    stuck = [(place, run) for place, run in enumerate(training.runs) if _stuck(run)]
    if not stuck:
        return None
    place, run = stuck[0]
    if run.loss_fell is False:
        early, late = run.loss.first_third, run.loss.last_third
        how, fields = "its loss did not fall", ("loss", "loss_fell")
        if early is not None and late is not None:
            how = f"its mean loss was {early:.2f} in the first third of the steps, {late:.2f} in the last"
    else:
        how, fields = "not every weight changed", ("gradients_reach_weights", "status")
    more = f" (and {len(stuck) - 1} more)" if len(stuck) > 1 else ""
    compare = Fix(text="Compare with the CPU alone", command="CUDA_VISIBLE_DEVICES= gpucheck --allow-cpu", kind="look")
    fresh = Fix(text="Install TensorFlow and its libraries in a fresh environment, and train without XLA to find the faulty part")
    return Finding(
        summary=f"The model did not learn in {label(run)}{more}: {how}.",
        evidence=saw(training, *(f"runs[{place}].{field}" for field in fields)),
        fix=(compare, fresh, TEST_GPU) if on_gpu(run) else (fresh,),
        affects=tuple(dict.fromkeys(device for _, run in stuck for device in run.devices)),
    )


def _stuck(run: TrainingRun) -> bool:
    finite = run.losses_finite is not False and run.weights_finite is not False
    return finite and (run.loss_fell is False or run.gradients_reach_weights is False)
