"""The script calls a function of TensorFlow 1 that TensorFlow 2 removed, or imports a module of Keras 2 that Keras 3 removed.

Symptom:
    AttributeError: module 'tensorflow._api.v2.train' has no attribute 'AdamOptimizer'
    AttributeError: module 'tensorflow' has no attribute 'placeholder'
    AttributeError: module 'tensorflow' has no attribute 'contrib'
    ModuleNotFoundError: No module named 'tensorflow.contrib'
    ModuleNotFoundError: No module named 'keras.layers.core'
    AttributeError: '_BatchDataset' object has no attribute 'make_one_shot_iterator'
Cause:
    TensorFlow 2 removed graphs and sessions from its main interface, and with them tf.placeholder, tf.get_variable, the
    optimizers and sessions in tf.train, tf.layers and all of tf.contrib. tf.compat.v1 still has most of them, without tf.contrib.
    Keras has its own optimizers. Keras 3 (in TensorFlow since 2.16) has its layers in keras.layers only.
Verify:
    The script runs without the error.
Unless:
    The program runs with TensorFlow 1, or imports tensorflow.compat.v1 as tf: neither is reported, nor is an import of tf_keras.
    Scripts that check
    TensorFlow's version in any condition support both and are not reported.
Example:
    bad:
        import tensorflow as tf
        optimizer = tf.train.AdamOptimizer(0.001)
    good:
        import keras
        optimizer = keras.optimizers.Adam(0.001)
References:
    https://www.tensorflow.org/guide/migrate
    https://www.tensorflow.org/guide/migrate/upgrade
"""

from collections.abc import Iterator

from gpucheck.commands.lint.environment import checks_versions
from gpucheck.commands.lint.removed import CAUGHT, COMPATIBLE, calls_of
from gpucheck.commands.lint.script import Finding, Script, at
from gpucheck.core.compat.removed import FUNCTIONS, KERAS_MODULES
from gpucheck.core.model import Fix
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.packages import newer

SEVERITY = "error"
WORDS = tuple(sorted({name.rpartition(".")[2] for name in (*FUNCTIONS, *KERAS_MODULES)}))


def repairs(context: Context, *, name: str = "tf.train.AdamOptimizer", instead: str = "keras.optimizers.Adam") -> Iterator[Fix]:
    """Yield the successor of the function, and how a whole program runs."""
    if context.raised_in and name.startswith("jax."):
        yield Fix(text=f"Install a {context.raised_in} that does not use {name}", command=newer(context))
    if context.raised_in and name.startswith("keras."):
        text = f"Install the last TensorFlow with Keras 2, which the installed {context.raised_in} was written for"
        yield Fix(text=text, command=context.pip("tensorflow<2.16"))
    yield Fix(text=f"Instead of {name} use {instead}")
    if name.startswith("tf.") and name not in ("tf.contrib", "tf.estimator"):  # tf.compat.v1 does not have them
        yield COMPATIBLE
        yield Fix(text="Convert it to TensorFlow 2", command="tf_upgrade_v2 --infile OLD.py --outfile NEW.py")


def check(script: Script) -> Iterator[Finding]:
    """Report calls of removed functions and imports of removed modules, unless the script supports several versions."""
    for call in calls_of(script, FUNCTIONS):
        name = call.name.replace("tensorflow", "tf", 1)
        yield at(call.node, f"{name} was removed in TensorFlow 2.", f"Use {FUNCTIONS[call.name]}.")
    for event in () if checks_versions(script) else script.imports:
        module = event.module.removeprefix("tensorflow.")
        if module in KERAS_MODULES and not event.place.catches(*CAUGHT):
            yield at(event.node, f"{event.module} was removed in Keras 3.", f"Use {KERAS_MODULES[module]}.")
