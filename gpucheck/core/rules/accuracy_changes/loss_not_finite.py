"""The training loss became NaN or infinite.

Symptom:
    loss: nan
    NaN loss during training.
    Batch 12: Invalid loss, terminating training
    - gpucheck: losses_finite is false, or weights_finite is false.
Cause:
    A learning rate that is too high, a logarithm or division of zero, bad values in the data, or float16 without loss scaling
    lets a value overflow; from then on, every weight is NaN. gpucheck's own small model has none of these problems: if its
    loss is not finite, the hardware, a driver or a library is at fault.
Verify:
    keras.callbacks.TerminateOnNaN() does not stop the run.
Unless:
    Never.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "steps"
    training.runs[0].reason = "the loss is not finite"
    training.runs[0].losses_finite = false
    training.runs[0].loss = {"first": 2.41, "last": null}
    training.runs[0].loss_fell = false
    -> The loss became NaN or infinite in one_device on GPU:0.
References:
    https://www.tensorflow.org/api_docs/python/tf/debugging/enable_check_numerics
    https://www.tensorflow.org/guide/mixed_precision
"""

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label, on_gpu
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, TrainingRun, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import COMPARE_WITH_CPU, NEW_ENVIRONMENT, TEST_GPU, TRAIN_IN_FLOAT32

_DATA = "Check the data: NaN, infinite values, and labels out of range"
_ADVICE = {  # of each framework, by topic
    "tensorflow": {
        "rate": "Lower the learning rate tenfold, and clip gradients: keras.optimizers.Adam(1e-4, clipnorm=1.0) instead of Adam(1e-3)",
        "data": _DATA,
        "float16": "Under float16, scale the loss (compile() does; in your own loop, use"
        " keras.mixed_precision.LossScaleOptimizer), keep the last layer in float32, or use mixed_bfloat16",
        "operation": "Find the operation that produces the first bad value: tf.debugging.enable_check_numerics()",
    },
    "torch": {
        "rate": "Lower the learning rate tenfold, and clip gradients: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        "data": _DATA,
        "float16": "Under float16, scale the loss with torch.amp.GradScaler, or use bfloat16",
        "operation": "Find the operation that produces the first bad value: torch.autograd.set_detect_anomaly(True)",
    },
    "jax": {
        "rate": "Lower the learning rate tenfold, and clip gradients: optax.clip_by_global_norm(1.0)",
        "data": _DATA,
        "float16": "Under float16, scale the loss, or use bfloat16",
        "operation": 'Find the operation that produces the first bad value: jax.config.update("jax_debug_nans", True)',
    },
}
_OF_SOME_INPUTS = ("Log", "Div", "RealDiv", "Reciprocal", "Rsqrt", "Sqrt")  # operations that are not finite for 0 or below
_NOT_FINITE = {"losses_finite": "loss", "weights_finite": "weights"}


@rule(scope=Scope.CODE, explains=("training-failed", "loss-not-falling"))
def check(outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Report a run with a loss or final weights that are not finite."""
    bad = [(place, run, field) for place, run in enumerate(outcomes.runs) if (field := _not_finite(run))]
    if not bad:
        return outcomes.skip
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    fields = {field for _, _, field in bad}
    what = " or the ".join(name for field, name in _NOT_FINITE.items() if field in fields)
    though = ", although the loss was finite" if fields == {"weights_finite"} else ""
    return Finding(
        summary=f"The {what} became NaN or infinite in {label(bad[0][1])}{more}{though}.",
        evidence=tuple(item for place, _, field in bad for item in outcomes.saw_run(place, field)),
        fix=repairs(context, own_model=True, precision=bad[0][1].precision, gpu=on_gpu(bad[0][1])),
        affects=tuple(dict.fromkeys(device for _, run, _ in bad for device in run.devices)),
    )


def _not_finite(run: TrainingRun) -> str | None:
    """Return the field that shows it."""
    return next((field for field in _NOT_FINITE if getattr(run, field) is False), None)


def repairs(
    context: Context,
    *,
    step: str = "",
    operation: str = "",
    precision: str = "",
    own_model: bool = False,
    gpu: bool = False,
) -> Fixes:
    """Keep values finite.

    Args:
        context: what is known about the machine.
        step: the step or batch in which it occurred.
        operation: TensorFlow's operation that produced the first value that is not finite: "Log".
        precision: the program's precision: "float16"; for gpucheck's own run, its policy.
        own_model: whether it is gpucheck's own model, whose values stay finite on a healthy machine.
        gpu: whether it was trained on a GPU.
    """
    if own_model:
        if "float16" in precision:
            yield TRAIN_IN_FLOAT32
        yield NEW_ENVIRONMENT
        yield from (COMPARE_WITH_CPU, TEST_GPU) if gpu else ()
        return
    if operation in _OF_SOME_INPUTS:
        yield Fix(text=f"Keep the input of {operation} above 0, where the result is finite: for example keras.ops.log(x + 1e-7)")
    advice = _ADVICE.get(context.framework or "tensorflow", _ADVICE["tensorflow"])
    order = ("float16", "rate", "data") if precision else ("data", "rate") if step == "0" else ("rate", "data", "float16")
    yield from (Fix(text=advice[topic]) for topic in order)
    if not operation:
        yield Fix(text=advice["operation"])
