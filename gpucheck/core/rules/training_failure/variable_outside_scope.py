"""A model, its optimizer or a metric was created or used outside the scope of the strategy that trains it.

Symptom:
    ValueError: Variable (<tf.Variable ...>) was not created in the distribution strategy scope
    ValueError: `colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope()
    RuntimeError: Mixing different tf.distribute.Strategy objects
    RuntimeError: Need to be inside "with strategy.scope()"
Cause:
    A strategy mirrors the variables that are created inside its scope. Objects created outside it, or in the scope of a second
    strategy, have variables of a different kind, and TensorFlow refuses to train the two together.
Verify:
    gpucheck lint TRAIN.py reports nothing, and the first training step completes.
Unless:
    Never: TensorFlow does not train a model whose variables belong to different scopes.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "build"
    training.runs[0].reason = "RuntimeError: Mixing different tf.distribute.Strategy objects: <A> is not <B>"
    -> Something was created or used outside the scope of the strategy that trains it: RuntimeError: Mixing different tf.distribute.Strategy objects: <A> is not <B>.
References:
    https://www.tensorflow.org/guide/distributed_training
    https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#scope
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.model.wording import OUTSIDE_SCOPE
from gpucheck.core.repairs.context import Context


@rule(scope=Scope.CODE, explains=("training-failed", "training-crashed"))
def check(log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report a run or a log line in which TensorFlow or Keras rejects a variable from another scope."""
    failed, cause = log_causes.failed_run("variable-outside-scope"), log_causes.cause("variable-outside-scope")
    text = failed.text if failed is not None else cause.events[0].text if cause is not None else ""
    fix = repairs(context, text=text)
    return log_causes.failure("variable-outside-scope", OUTSIDE_SCOPE, fix) or log_causes.outcomes.skip


def repairs(context: Context, *, text: str = "") -> Fixes:
    """Use one strategy and its scope.

    Args:
        context: what is known about the machine.
        text: the message.
    """
    once = Fix(text="Create one strategy per program and reuse it: every call of its constructor creates another one")
    inside = Fix(
        text="Create the model, the optimizer and the metrics, and load weights into them, under: with strategy.scope():"
    )
    if "Strategy objects" in text:
        yield once
        yield inside
    else:
        yield inside
        yield once
    yield Fix.look("Find the lines of your program that cause it", "gpucheck lint TRAIN.py")
