"""A model is built in a strategy's scope and compiled outside it, with an optimizer that is also created outside.

Symptom:
    RuntimeError: Mixing different tf.distribute.Strategy objects: <MirroredStrategy> is not <_DefaultDistributionStrategy>
    ValueError: Trying to create optimizer slot variable under the scope for tf.distribute.Strategy
Cause:
    The optimizer and the metrics have variables, which the strategy must mirror like the model's. An optimizer that is created
    outside the scope belongs to the default strategy. Keras 3 also creates an optimizer named by a string in compile.
Fix:
    1. Indent compile into the block that builds the model: with strategy.scope():
    2. Or create the optimizer in the scope and pass it to compile.
Verify:
    fit completes its first step.
Unless:
    Keras 2 enters the model's scope by itself, so an optimizer named by a string works outside.
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

from gpucheck.commands.lint.lookup import constant, options
from gpucheck.commands.lint.models import optimizer_outside, outside, several_replicas, strategies_around
from gpucheck.commands.lint.script import Findings, Script, at

SEVERITY = "error"
EXPLAINS = ("variable-outside-scope",)
WORDS = ("Strategy",)


def check(script: Script) -> Findings:
    """Report compile if the model is certainly inside the scope, and compile and its optimizer certainly outside."""
    if script.hidden_scope:
        return
    for call, models in script.calls_on_models("compile"):
        if call.starred or not outside(call) or not all(several_replicas(strategies_around([model])) for model in models):
            continue
        optimizers = list(options(call.argument("optimizer", 0)))
        by_name = script.standalone_keras and all(isinstance(constant(optimizer), str) for optimizer in optimizers)
        if by_name or (optimizers and all(map(optimizer_outside, optimizers))):
            where = script.where(models[0].node)
            message = f"The model is built in the strategy's scope ({where}), but compiled outside it."
            yield at(call.node, message, "Indent compile into the with block that builds the model.")
