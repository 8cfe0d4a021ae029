"""The training job ran, but its model did not learn.

Symptom:
    1875/1875 - 9s - 5ms/step - accuracy: 0.1000 - loss: 2.3026
      1875/1875 - 9s - 5ms/step - accuracy: 0.1000 - loss: 2.3026
      1875/1875 - 9s - 5ms/step - accuracy: 0.1000 - loss: 2.3026
    - The loss stays the same, or grows, although the data can be learned.
    - gpucheck: loss_fell is false, or gradients_reach_weights is false.
Cause:
    gpucheck trains a small model on generated data that can be learned in a few steps. If the model does not learn, gradients are
    lost or wrong on this device: a faulty GPU, a broken library, or replicas that don't exchange gradients.
    In your own program, the learning rate, the labels or the loss are the usual reasons. If a model learns worse after it
    was scaled to several GPUs, the global batch (batch per replica times replicas) has grown: keep it, or raise the learning
    rate with it, warm it up over the first epochs, and tune the regularization again. BatchNormalization uses each replica's
    batch separately, unless it is built with synchronized=True.
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
    https://www.tensorflow.org/guide/distributed_training
    https://keras.io/api/layers/normalization_layers/batch_normalization/
"""

from gpucheck.core.combiners.training_outcomes import label, on_gpu
from gpucheck.core.model import Finding, Fix, Fixes, Scope, TrainingRun, rule, saw
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import COMPARE_WITH_CPU, NEW_ENVIRONMENT, TEST_GPU


@rule(scope=Scope.CODE, explains=("training-failed",))
def check(training: Training, context: Context) -> Finding | None:
    """Report a loss that did not fall, or weights that never changed."""
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
    return Finding(
        summary=f"The model did not learn in {label(run)}{more}: {how}.",
        evidence=saw(training, *(f"runs[{place}].{field}" for field in fields)),
        fix=repairs(context, own_model=True, gpu=on_gpu(run)),
        affects=tuple(dict.fromkeys(device for _, run in stuck for device in run.devices)),
    )


def _stuck(run: TrainingRun) -> bool:
    finite = run.losses_finite is not False and run.weights_finite is not False
    return finite and (run.loss_fell is False or run.gradients_reach_weights is False)


def repairs(context: Context, *, classes: str = "", own_model: bool = False, gpu: bool = False) -> Fixes:
    """Make the model learn.

    Args:
        context: what is known about the machine.
        classes: the number of classes among which the model guesses.
        own_model: whether it is gpucheck's own model, which learns on a healthy machine.
        gpu: whether it was trained on a GPU.
    """
    if own_model:
        yield NEW_ENVIRONMENT
        yield Fix(text="Train without XLA to find the faulty part: model.compile(..., jit_compile=False)")
        yield from (COMPARE_WITH_CPU, TEST_GPU) if gpu else ()
        return
    adam = "torch.optim.Adam(model.parameters(), lr=1e-4)" if context.framework == "torch" else "keras.optimizers.Adam(1e-4)"
    yield Fix(text=f"Train with a ten times lower learning rate, then with a ten times higher one: {adam}")
    of = f"integers from 0 to {int(classes) - 1}" if classes else "integers from 0"
    yield Fix(
        text=f"Check that labels and loss match (sparse: {of}; from_logits=True: no softmax at the end), and scale the inputs"
    )
    yield Fix(
        text="Train on one batch until the model has memorized it; if it can't, the fault is in the model, the labels or the loss"
    )
    yield Fix(text="After a move to more GPUs, keep the global batch, or raise the learning rate with it and warm it up")
    yield Fix.look("Check whether this machine can train", "gpucheck")
