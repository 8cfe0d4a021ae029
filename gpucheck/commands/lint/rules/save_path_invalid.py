"""The script saves a model or its weights under a file name that Keras 3 rejects, so the training's result is lost.

Symptom:
    ValueError: The filename must end in `.weights.h5`. Received: filepath=model.h5
    ValueError: Invalid filepath extension for saving. Please add either a `.keras` extension for the native Keras format
    ValueError: When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided must end in `.weights.h5`
    ValueError: The filepath provided must end in `.keras` (Keras model format). Received: filepath=best.hdf5
    TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'
Cause:
    Keras 3, in TensorFlow since 2.16, chooses the format by the file name's extension: .keras or .h5 for a model, .weights.h5 for
    weights. Keras 2 also accepted other names, and wrote TensorFlow's formats. The error only appears after training.
Fix:
    1. model.save("model.keras"), model.save_weights("model.weights.h5"), ModelCheckpoint("best.keras").
    2. For serving, write a SavedModel: model.export("folder").
    3. Instead of ModelCheckpoint's period use save_freq, in batches: save_freq=5 * steps_per_epoch.
Verify:
    gpucheck lint reports nothing, and the file exists after one epoch.
Unless:
    The script runs with Keras 2 (tf-keras, TensorFlow before 2.16). Scripts that mention Keras 2 or check a version are not
    reported.
Example:
    bad:
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
        model.save_weights("model.h5")
    good:
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
        model.save_weights("model.weights.h5")
References:
    https://keras.io/guides/migrating_to_keras_3/
    https://keras.io/api/callbacks/model_checkpoint/
"""

import ast

from gpucheck.commands.lint.devices import expected_to_fail
from gpucheck.commands.lint.lookup import constant, is_call
from gpucheck.commands.lint.removed import calls_of_models
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call, Constant, Value

WEIGHTS, MODELS = (".weights.h5",), (".keras", ".h5")


@rule(explains=("keras-version-conflict",), words=(".save", "ModelCheckpoint"))
def check(script: Script) -> Findings:
    """Report a name whose end is definitely wrong, and the argument period."""
    for call in calls_of_models(script, "save", "save_weights"):
        yield from _finding(call, call.method, WEIGHTS if call.method == "save_weights" else (*MODELS, ".hdf5"))
    for call in script.calls_named("keras.callbacks.ModelCheckpoint") if script.uses_keras_3 else ():
        if "period" in call.keywords:
            yield at(call.node, "Keras 3's ModelCheckpoint has no argument period.", "Use save_freq, which counts batches.")
        only = call.argument("save_weights_only", 4)
        if only is None or isinstance(only, Constant):
            yield from _finding(call, "ModelCheckpoint", WEIGHTS if constant(only) else MODELS)


def _finding(call: Call, what: str, accepted: tuple[str, ...]) -> Findings:
    if call.starred or not {"zipped", "max_shard_size"}.isdisjoint(call.keywords) or expected_to_fail(call.place, "ValueError"):
        return
    nodes = [keyword.value for keyword in call.node.keywords if keyword.arg == "filepath"] or call.node.args[:1]
    end, whole = _end(nodes[0], call.argument("filepath", 0)) if nodes else ("", False)
    possible = end.endswith(accepted) or (not whole and any(ending.endswith(end) for ending in accepted))
    if end and not possible and not end.startswith("hf://"):
        names = " or ".join(accepted[:2])
        yield at(call.node, f"Keras 3's {what} requires a file name that ends with {names}.", f"End the name with {accepted[0]}.")


def _end(node: ast.expr, value: Value | None) -> tuple[str, bool]:
    """Return the end of a path as far as it is literal ("": unknown), and whether that is the whole path."""
    if is_call(value, "os.path.join", "pathlib.Path", "builtins.str") and value.args and not value.starred:
        return _end(value.node.args[-1], value.args[-1])
    last = node.values[-1] if isinstance(node, ast.JoinedStr) and node.values else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
        last = node.right
    if last is not None:
        return (last.value, False) if isinstance(last, ast.Constant) and isinstance(last.value, str) else ("", False)
    return (value.value, True) if isinstance(value, Constant) and isinstance(value.value, str) else ("", False)
