"""tf.device is called without a with statement.

Symptom:
    - Everything runs on GPU 0, although tf.device("/GPU:1") was called.
Cause:
    tf.device returns a context manager. The call alone has no effect: only operations inside `with tf.device(...):` are placed
    on the device.
Fix:
    1. Put the operations, or the creation of the model, under: with tf.device("/GPU:1"):
    2. To use one GPU for the whole program, set CUDA_VISIBLE_DEVICES=1 before it starts; it is then GPU:0.
Verify:
    print(model.trainable_variables[0].value.device) prints the device.
Unless:
    The call has another purpose, such as a test of its arguments.
Example:
    bad:
        import tensorflow as tf
        tf.device("/GPU:1")
        total = tf.reduce_sum(values)
    good:
        import tensorflow as tf
        with tf.device("/GPU:1"):
            total = tf.reduce_sum(values)
References:
    https://www.tensorflow.org/api_docs/python/tf/device
    https://www.tensorflow.org/guide/gpu#manual_device_placement
"""

import ast

from gpucheck.commands.lint.script import Findings, Script, at, rule


@rule(severity="warning", words=("device",))
def check(script: Script) -> Findings:
    """Report calls whose result is not used."""
    alone = {id(node.value) for node in ast.walk(script.tree) if isinstance(node, ast.Expr)}
    for call in script.calls_named("tensorflow.device"):
        if id(call.node) in alone and not call.place.guards:
            yield at(call.node, "tf.device alone has no effect: it is a context manager.", "Write: with tf.device(...):")
