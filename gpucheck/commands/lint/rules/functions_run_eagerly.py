"""The script disables graph compilation, so training runs operation by operation in Python.

Symptom:
    - Training is several times slower than expected, and GPU utilization is low.
    - The model.compile of the script has run_eagerly=True
Cause:
    run_eagerly=True and tf.config.run_functions_eagerly(True) are for debugging: no step is compiled into a graph. Python then
    starts every operation of every step, and XLA (jit_compile) has no effect. It is often left in a script by mistake.
Fix:
    1. Remove run_eagerly=True from compile, and tf.config.run_functions_eagerly(True) from the script.
    2. To inspect one step, call model.train_step on a batch, or use tf.print, which also works inside a graph.
Verify:
    A step takes less time; gpucheck bench measures what this machine can reach.
Unless:
    You are debugging now. Scripts that turn it off again, make it depend on a variable, or never train are not reported.
Example:
    bad:
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(loss="mse", run_eagerly=True)
        model.fit(x, y)
    good:
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
References:
    https://www.tensorflow.org/api_docs/python/tf/config/run_functions_eagerly
    https://keras.io/api/models/model_training_apis/
"""

import ast

from gpucheck.commands.lint.devices import expected_to_fail
from gpucheck.commands.lint.edits import switch_off
from gpucheck.commands.lint.lookup import before, constant, left_on, parts
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call, Constant, Items, Name, Pairs, Value

FOR_ALL = ("tensorflow.config.run_functions_eagerly", "tensorflow.config.experimental_run_functions_eagerly")


@rule(severity="warning", words=("run_eagerly", "run_functions_eagerly"))
def check(script: Script) -> Findings:
    """Report a trained model that is compiled this way, or a permanent global setting in a script that trains."""
    trained = {id(model) for _, models in script.trainings for model in models}
    defined = {type(node) for node in ast.walk(script.tree)} & {ast.FunctionDef, ast.Lambda, ast.ClassDef}
    for call, models in script.calls_on_models("compile"):
        if constant(call.argument("run_eagerly")) is True and any(id(model) in trained for model in models):
            of_keras = all(map(_is_of_keras, (part for value in call.given for part in parts(value))))
            yield from _finding(call, "compile(run_eagerly=True)", certain=of_keras and ast.ClassDef not in defined)
    for call in left_on(script.calls_named(*FOR_ALL), "run_eagerly"):
        if any(before(call.place, fit.place) for fit, _ in script.trainings):
            yield from _finding(call, "run_functions_eagerly(True)", certain=not defined)


def _is_of_keras(value: Value) -> bool:
    """Whether a value definitely does not need eager mode, unlike a metric or loss that calls NumPy."""
    name = value.name if isinstance(value, Call) else value.path if isinstance(value, Name) else ""
    return isinstance(value, (Constant, Items, Pairs)) or name.startswith("keras.")


def _finding(call: Call, what: str, *, certain: bool) -> Findings:
    if not (call.place.path or expected_to_fail(call.place)):
        message = f"{what} makes Python run every operation of every step, so the GPU waits."
        edit = switch_off(call.node, "run_eagerly") if certain else None
        yield at(call.node, message, "Remove it; it is for debugging only.", edit)
