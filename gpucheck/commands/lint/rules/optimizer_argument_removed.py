"""The script passes lr to an optimizer, which Keras 3 calls learning_rate.

Symptom:
    ValueError: Argument(s) not recognized: {'lr': 0.001}
Cause:
    Keras 2 accepted lr as well as learning_rate. Since TensorFlow 2.11, it only warned, and trained with the default rate.
    Keras 3, in TensorFlow since 2.16, raises an error for lr, and ignores decay with a warning.
Fix:
    1. keras.optimizers.Adam(learning_rate=0.001)
    2. Instead of decay pass a schedule as the learning rate: keras.optimizers.schedules.InverseTimeDecay(0.001, 1, decay)
Verify:
    The script trains without the error.
Unless:
    The script runs with Keras 2 (tf-keras, TensorFlow before 2.16). Scripts that mention Keras 2 or check a version are not
    reported.
Example:
    bad:
        import keras
        optimizer = keras.optimizers.Adam(lr=0.001)
    good:
        import keras
        optimizer = keras.optimizers.Adam(learning_rate=0.001)
References:
    https://keras.io/guides/migrating_to_keras_3/
    https://keras.io/api/optimizers/
"""

import re

from gpucheck.commands.lint.devices import expected_to_fail
from gpucheck.commands.lint.edits import rename
from gpucheck.commands.lint.script import Findings, Script, at, rule

OPTIMIZER = re.compile(r"keras\.optimizers\.[A-Z]\w+")


@rule(explains=("keras-version-conflict",), words=("lr",))
def check(script: Script) -> Findings:
    """Report every optimizer of Keras that is created with lr, and rename the argument."""
    if not script.uses_keras_3:
        return
    optimizers = [call for call in script.calls if OPTIMIZER.fullmatch(call.name)]
    for call, keyword in [(one, keyword) for one in optimizers for keyword in one.node.keywords if keyword.arg == "lr"]:
        if not expected_to_fail(call.place, "ValueError", "TypeError"):
            message = "Keras 3 (in TensorFlow since 2.16) has no argument lr."
            alone = not (call.args or call.starred or "learning_rate" in call.keywords)
            edit = rename(keyword, "learning_rate") if alone else None
            yield at(call.node, message, "Use learning_rate instead.", edit)
