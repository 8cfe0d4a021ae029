"""The script uses a name of TensorFlow 1 or of an old Keras that the current TensorFlow or Keras removed.

Symptom:
    AttributeError: module 'tensorflow._api.v2.train' has no attribute 'AdamOptimizer'
    AttributeError: module 'tensorflow' has no attribute 'placeholder'
    AttributeError: module 'tensorflow' has no attribute 'contrib'
    ModuleNotFoundError: No module named 'tensorflow.contrib'
    ModuleNotFoundError: No module named 'keras.layers.core'
    ImportError: cannot import name 'ImageDataGenerator' from 'keras.preprocessing.image'
    AttributeError: 'Sequential' object has no attribute 'predict_classes'
    AttributeError: '_BatchDataset' object has no attribute 'make_one_shot_iterator'
Cause:
    TensorFlow 2 removed graphs and sessions from its main interface, and with them tf.placeholder, tf.get_variable, the
    optimizers and sessions in tf.train, tf.layers and all of tf.contrib. tf.compat.v1 still has most of them, without tf.contrib.
    Keras has its own optimizers. Keras 3 (in TensorFlow since 2.16) provides layers only in keras.layers.
Verify:
    The script runs without the error.
Unless:
    The program runs with TensorFlow 1, or imports tensorflow.compat.v1 as tf: neither is reported, nor is an import of tf_keras.
    tf.keras still has ImageDataGenerator and keras.preprocessing.text, which keras removed. Scripts with a condition on
    TensorFlow's version support both and are not reported.
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

import ast
import re
from collections.abc import Iterator

from gpucheck.commands.lint.devices import expected_to_fail
from gpucheck.commands.lint.edits import rename, rename_method
from gpucheck.commands.lint.lookup import options
from gpucheck.commands.lint.names import canonical
from gpucheck.commands.lint.removed import CAUGHT, COMPATIBLE, assigned_names, calls_of_models, fails
from gpucheck.commands.lint.script import Finding, Script, at, rule
from gpucheck.commands.lint.values import Call, Import, Name
from gpucheck.core.compat import removed
from gpucheck.core.model import Fix
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import newer

REMOVED = {f"tensorflow.{name}": new for name, new in removed.MODULES.items()} | removed.KERAS_REMOVED | removed.FUNCTIONS
SINCE_KERAS_3 = (*removed.KERAS_2, "tensorflow.estimator")  # removed in TensorFlow 2.16
TF_KERAS_USED = re.compile(r"\w\.keras\b|\bfrom tensorflow[\w.]* import (?:\([^)]*|[^#\n]*)\bkeras\b")
WORDS = frozenset(name.rpartition(".")[2] for name in ("reset_states", *REMOVED, *removed.MODEL_METHODS, *removed.FIT_ARGUMENTS))
_TENSORFLOW_1 = Fix(
    text="Run the program with TensorFlow 1.15, the last with tf.contrib; for a GPU up to Turing, add cudatoolkit=10.0 cudnn=7",
    command="conda create -y -n tensorflow1 python=3.7 && conda run -n tensorflow1 python -m pip install"
    ' "tensorflow==1.15.*" "protobuf<3.21"',
)


def repairs(context: Context, *, name: str = "tf.train.AdamOptimizer", instead: str = "keras.optimizers.Adam") -> Iterator[Fix]:
    """Yield the replacement of the function, and how to run a whole program."""
    if context.raised_in and name.startswith("jax."):
        yield Fix(text=f"Install a {context.raised_in} that does not use {name}", command=newer(context))
    if context.raised_in and name.startswith("keras."):
        text = f"Install the last TensorFlow with Keras 2, which the installed {context.raised_in} was written for"
        yield Fix(text=text, command=context.pip("tensorflow<2.16"))
    if name.startswith("tf.contrib"):
        yield _TENSORFLOW_1
    yield Fix(text=f"Instead of {name} use {instead}")
    if name.startswith("tf.") and not name.startswith(("tf.contrib", "tf.estimator")):  # tf.compat.v1 does not have them
        yield COMPATIBLE
        yield Fix(text="Convert it to TensorFlow 2", command="tf_upgrade_v2 --infile OLD.py --outfile NEW.py")


@rule(words=WORDS)
def check(script: Script) -> Iterator[Finding]:
    """Report what TensorFlow 2 and Keras removed, unless the script supports several versions."""
    if not script.checks_versions:
        yield from _names(script)
    for call in calls_of_models(script, *removed.MODEL_METHODS):
        yield at(call.node, f"Keras removed {call.method}.", f"Use {removed.MODEL_METHODS[call.method]}.")
    supports_both = re.search(r"\breset_state\b", script.written)
    for call in script.methods("reset_states") if script.uses_keras_3 and not supports_both else ():
        of_metric = all(isinstance(one, Call) and one.name.startswith("keras.metrics.") for one in options(call.receiver))
        if of_metric and not expected_to_fail(call.place, "AttributeError"):
            edit = rename_method(call.node, "reset_states", "reset_state")
            yield at(call.node, "Keras 3's metrics have no reset_states.", "Call reset_state.", edit)
    for call in calls_of_models(script, "fit"):
        yield from _arguments(call)


def _names(script: Script) -> Iterator[Finding]:
    """Report imports of removed names, and uses of those that the script does not import."""
    keras_3, assigned = script.uses_keras_3, set(assigned_names(script))
    only_keras = not TF_KERAS_USED.search(script.written)
    imported = [(event, found) for event in script.imports if (found := _imported(event, keras_3=keras_3))]
    yield from (_report(event.node, found) for event, found in imported if not expected_to_fail(event.place, *CAUGHT))
    used, seen = tuple(found for _, found in imported), set[str]()
    for read in script.reads:
        found = _removed(read.value.path, keras_3=keras_3) if isinstance(read.value, Name) else None
        if not found or (found.startswith("keras") and not (keras_3 and (only_keras or found not in removed.TF_KERAS))):
            continue
        new = not found.startswith(used) and (_is_written(read.node, found) or found not in seen)
        if new and fails(found, read.place, assigned):
            seen.add(found)
            yield _report(read.node, found)


def _is_written(node: ast.AST, name: str) -> bool:
    """Whether an expression reads the last part of a name as an attribute.

    A use of an alias does not; the assignment of the alias was already reported.
    """
    last = name.rpartition(".")[2]
    return any(isinstance(part, ast.Attribute) and part.attr == last for part in ast.walk(node))


def _imported(event: Import, *, keras_3: bool) -> str | None:
    """Return the removed name that an import statement uses."""
    if event.module.startswith(("tf_keras", "keras_core", "tensorflow.python")):  # not Keras 3
        return None
    names = [*(f"{event.module}.{name}" for name in event.names), event.module]
    every = (_removed(canonical(name), keras_3=keras_3) for name in names)
    of_tensorflow = event.module.startswith("tensorflow")
    return next((found for found in every if found and not (of_tensorflow and found in removed.TF_KERAS)), None)


def _removed(name: str, *, keras_3: bool) -> str | None:
    """Return the longest beginning of a canonical name that was removed."""
    parts = name.split(".")
    beginnings = (".".join(parts[:count]) for count in range(len(parts), 1, -1))
    return next((found for found in beginnings if found in REMOVED and (keras_3 or found not in SINCE_KERAS_3)), None)


def _report(node: ast.AST, name: str) -> Finding:
    since = "TensorFlow 2.16" if name in SINCE_KERAS_3 else "TensorFlow 2"
    by = "Keras 3" if name.startswith("keras") else since
    return at(node, f"{name.replace('tensorflow', 'tf', 1)} was removed in {by}.", f"Use {REMOVED[name]}.")


def _arguments(call: Call) -> Iterator[Finding]:
    """Report arguments of Keras 1 and 2, and rename the one that only has a new name."""
    for keyword in call.node.keywords:
        if keyword.arg in removed.FIT_ARGUMENTS:
            new = removed.FIT_ARGUMENTS[keyword.arg]
            alone = new == "epochs" and "epochs" not in call.keywords and not call.starred
            edit = rename(keyword, new) if alone else None
            yield at(call.node, f"fit has no argument {keyword.arg}.", f"Use {new}." if new else "Remove it.", edit)
