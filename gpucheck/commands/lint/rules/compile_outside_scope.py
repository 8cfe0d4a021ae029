"""A model is built in a strategy's scope, and its optimizer is created outside.

Symptom:
    RuntimeError: Mixing different tf.distribute.Strategy objects: <MirroredStrategy> is not <_DefaultDistributionStrategy>
    ValueError: Trying to create optimizer slot variable under the scope for tf.distribute.Strategy
Cause:
    The optimizer and the metrics have variables, which the strategy must mirror like the model's. An optimizer that is created
    outside the scope belongs to the default strategy. So does an optimizer that Keras 3 creates from a string in compile.
Fix:
    1. Indent compile into the block that builds the model: with strategy.scope():
    2. Create the optimizer in the scope.
Verify:
    fit completes its first step.
Unless:
    Keras 2 enters the model's scope automatically, so an optimizer given as a string works outside it.
Example:
    bad:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
    good:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
References:
    https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#scope
    https://keras.io/guides/distributed_training_with_tensorflow/
"""

from gpucheck.commands.lint.lookup import constant, is_call, options
from gpucheck.commands.lint.models import optimizer_outside, outside, several_replicas, strategies_around
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Value


@rule(explains=("variable-outside-scope",), words=("Strategy",))
def check(script: Script) -> Findings:
    """Report compile if the model is definitely inside the scope, and compile and its optimizer definitely outside."""
    if script.hidden_scope:
        return
    for call, models in script.calls_on_models("compile"):
        if call.starred or not all(several_replicas(strategies_around([model])) for model in models):
            continue
        optimizers = list(options(call.argument("optimizer", 0)))
        made_outside = bool(optimizers) and all(optimizer_outside(one) and not _is_plain_sgd(one) for one in optimizers)
        named = all(isinstance(constant(one), str) and not _is_plain_sgd(one) for one in optimizers)
        where = script.where(models[0].node)
        if outside(call) and (made_outside or (script.standalone_keras and named)):
            message = f"The model is built in the strategy's scope ({where}), but compiled outside it."
            yield at(call.node, message, "Indent compile into the with block that builds the model.")
        elif made_outside:
            message = f"The model is built in the strategy's scope ({where}), but its optimizer is created outside it."
            yield at(call.node, message, "Create the optimizer in the with block that builds the model.")


def _is_plain_sgd(optimizer: Value) -> bool:
    """Whether an optimizer is SGD without momentum, which has no variable for each weight."""
    if is_call(optimizer, "keras.optimizers.SGD"):
        return not (optimizer.starred or "momentum" in optimizer.keywords or len(optimizer.args) > 1)
    return str(constant(optimizer)).lower() == "sgd"
