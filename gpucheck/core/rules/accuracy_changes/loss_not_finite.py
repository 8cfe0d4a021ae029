"""The training loss became NaN or infinite.

Symptom:
    loss: nan
    NaN loss during training.
    Batch 12: Invalid loss, terminating training
    gpucheck: losses_finite is false, or weights_finite is false.
Cause:
    A learning rate that is too high, a logarithm or division of zero, bad values in the data, or float16 without loss scaling
    lets a value overflow; from there on every weight is NaN. On gpucheck's own small model none of these is at work: there it
    is the hardware, a driver or a library.
Fix:
    1. Find the operation that produces the first bad value: tf.debugging.enable_check_numerics()
    2. Check the data (NaN, infinite, labels out of range), lower the learning rate, clip gradients: Adam(1e-4, clipnorm=1.0)
    3. Under mixed_float16, keep the last layer in float32 or use mixed_bfloat16
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

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, TrainingRun
from gpucheck.core.model.plugin import rule

_FIX = (
    Fix(text="Find the operation that produces the first bad value: tf.debugging.enable_check_numerics()"),
    Fix(text="Check the data for bad values, lower the learning rate, clip gradients (Adam(1e-4, clipnorm=1.0))"),
    Fix(text="Under mixed_float16, keep the last layer in float32 or use mixed_bfloat16"),
)
_NOT_FINITE = {"losses_finite": "loss", "weights_finite": "weights"}


@rule(severity=Severity.ERROR, scope=Scope.CODE, explains=("training-failed", "loss-not-falling"))
def check(outcomes: TrainingOutcomes) -> Finding | Skip | None:
    """A run saw such a loss, or ended with such weights."""
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
        fix=_FIX,
        affects=tuple(dict.fromkeys(device for _, run, _ in bad for device in run.devices)),
    )


def _not_finite(run: TrainingRun) -> str | None:
    """The field that says so."""
    return next((field for field in _NOT_FINITE if getattr(run, field) is False), None)
