"""Every operation's device is logged while a model is trained.

Symptom:
    - The log has a line "Executing op ... in device ..." for every operation.
    - Training is slower than without the log.
Cause:
    tf.debugging.set_log_device_placement(True) prints a line for each operation. It is intended to show where a few operations
    run.
Fix:
    1. Remove tf.debugging.set_log_device_placement(True) before training.
    2. To see where operations run, once: gpucheck --log-device-placement
Verify:
    The log has no line "Executing op".
Unless:
    The training is a short test of the placement. A log that is turned off again is not reported.
Example:
    bad:
        import tensorflow as tf
        tf.debugging.set_log_device_placement(True)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
    good:
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
References:
    https://www.tensorflow.org/guide/gpu#logging_device_placement
    https://www.tensorflow.org/api_docs/python/tf/debugging/set_log_device_placement
"""

from gpucheck.commands.lint.edits import switch_off
from gpucheck.commands.lint.lookup import before, left_on
from gpucheck.commands.lint.script import Findings, Script, at, rule


@rule(severity="warning", words=("set_log_device_placement",))
def check(script: Script) -> Findings:
    """Report every call that leaves the log on while a model is trained, if no later call may turn it off."""
    for call in left_on(script.calls_named("tensorflow.debugging.set_log_device_placement"), "enabled"):
        fit = next((fit for fit, _ in script.trainings if before(call.place, fit.place)), None)
        if fit:
            message = f"Every operation's device is logged while the model is trained ({script.where(fit.node)})."
            yield at(call.node, message, "Remove this line.", switch_off(call.node, "enabled"))
