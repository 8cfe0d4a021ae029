"""A model for a TPU uses float16, in which TPUs do not compute.

Symptom:
    - Training on the TPU is slower than in float32, or fails to compile.
    - The loss becomes nan.
Cause:
    A TPU's matrix units multiply bfloat16. The policy mixed_float16 is for GPUs: a TPU gains no speed from it, and float16 has a
    smaller range than bfloat16.
Fix:
    1. keras.mixed_precision.set_global_policy("mixed_bfloat16")
Verify:
    print(model.layers[0].dtype_policy) prints mixed_bfloat16.
Unless:
    The program chooses its strategy at run time and has a fallback for GPUs: such programs are not reported.
Example:
    bad:
        import keras
        import tensorflow as tf
        keras.mixed_precision.set_global_policy("mixed_float16")
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile(loss="mse")
        model.fit(dataset)
    good:
        import keras
        import tensorflow as tf
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile(loss="mse")
        model.fit(dataset)
References:
    https://www.tensorflow.org/guide/mixed_precision
    https://docs.cloud.google.com/tpu/docs/bfloat16
"""

from gpucheck.commands.lint.layers import policies
from gpucheck.commands.lint.lookup import before
from gpucheck.commands.lint.models import on_tpu
from gpucheck.commands.lint.script import Findings, Script, at, rule


@rule(severity="warning", words=("TPUStrategy",))
def check(script: Script) -> Findings:
    """Report the last policy that is set before a model in a TPU strategy's scope is built, if it uses float16."""

    for _, models in script.trainings:
        for setter, name in [pair for pair in policies(script) if before(pair[0].place, models[0].place)][-1:]:
            if on_tpu(models) and name in ("mixed_float16", "float16"):
                yield at(setter.node, "TPUs do not compute in float16.", 'Use the policy "mixed_bfloat16".')
