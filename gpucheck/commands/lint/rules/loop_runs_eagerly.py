"""A custom training loop runs without tf.function, and waits for the GPU in every step.

Symptom:
    - GPU utilization stays low, while one CPU core is always busy.
    - The same model trains several times faster with fit.
Cause:
    Without tf.function, Python starts every operation of a step. loss.numpy() or float(loss) in each step then waits until
    the GPU has computed the loss, and meanwhile Python can't prepare the next step.
Fix:
    1. Put the step into a function and decorate it with @tf.function.
    2. Read the loss less often: if step % 100 == 0: print(float(loss)); or average it on the device with keras.metrics.Mean.
Verify:
    An epoch takes less time, and GPU utilization rises.
Unless:
    There are few steps, or each takes seconds. Scripts that use tf.function anywhere are not reported.
Example:
    bad:
        import tensorflow as tf
        dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(64)
        for x, y in dataset:
            with tf.GradientTape() as tape:
                loss = compute_loss(model(x), y)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            losses.append(loss.numpy())
    good:
        import tensorflow as tf
        dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(64)
        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = compute_loss(model(x), y)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss
        for x, y in dataset:
            losses.append(step(x, y))
References:
    https://www.tensorflow.org/guide/function
    https://www.tensorflow.org/guide/keras/writing_a_training_loop_from_scratch
"""

from gpucheck.commands.lint.datasets import chains
from gpucheck.commands.lint.lookup import TAPE, iterated, options, parts, under
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call

COMPILES = ("tensorflow.function", "tensorflow.config.run_functions_eagerly", "tensorflow.compat.v1.disable_eager_execution")


@rule(severity="warning", words=("apply_gradients",))
def check(script: Script) -> Findings:
    """Report the first call that copies a tensor to Python in every step of a loop over a dataset that applies gradients."""
    if script.mentions(*COMPILES):
        return
    steps = [call for call in script.methods("apply_gradients") if call.place.loops and call.place.path]
    under_tape = [call for call in script.calls if under(call.place, TAPE)]
    on_batches = [call for call in under_tape if any(chains(one) for value in iterated(call.args) for one in options(value))]
    loops = {call.place.path for call in steps} & {call.place.path for call in on_batches}
    reported = set()
    for call in (*script.methods("numpy"), *script.calls_named("builtins.float")):
        path = call.place.path
        if path in loops and path not in reported and _computed_in_loop(call, script):
            reported.add(path)
            message = "This loop trains without tf.function, and waits here for the device in every step."
            yield at(call.node, message, "Decorate the step with @tf.function, and read numbers less often.")


def _computed_in_loop(call: Call, script: Script) -> bool:
    """Whether the copied tensor was computed under a tape of the same loop."""
    value = call.receiver if call.method == "numpy" else call.args[0] if call.args else None
    return any(isinstance(part, Call) and part.place.path == call.place.path and under(part.place, TAPE) for part in parts(value))
