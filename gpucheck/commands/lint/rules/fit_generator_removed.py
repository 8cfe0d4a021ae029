"""The script trains with fit_generator, which Keras 3 does not have.

Symptom:
    AttributeError: 'Sequential' object has no attribute 'fit_generator'
    AttributeError: 'Functional' object has no attribute 'fit_generator'
    AttributeError: 'Sequential' object has no attribute 'predict_generator'
Cause:
    Model.fit, evaluate and predict have accepted generators and keras.utils.Sequence since TensorFlow 2.1. Keras 3, included in
    TensorFlow since 2.16, removed fit_generator, evaluate_generator and predict_generator.
Verify:
    The script trains without the error.
Unless:
    The script runs with Keras 2 (tf-keras, TensorFlow before 2.16). Scripts that mention Keras 2 or check a version are not
    reported.
Example:
    bad:
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit_generator(batches, steps_per_epoch=10)
    good:
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(batches, steps_per_epoch=10)
References:
    https://keras.io/guides/migrating_to_keras_3/
    https://keras.io/api/utils/python_utils/#pydataset-class
"""

from collections.abc import Iterator

from gpucheck.commands.lint.edits import rename_method
from gpucheck.commands.lint.removed import calls_of_models
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.core.compat.removed import FIT_ARGUMENTS, GENERATOR_METHODS
from gpucheck.core.model import Fix
from gpucheck.core.repairs.context import Context

_MOVED = {"generator", "val_samples", *FIT_ARGUMENTS}  # arguments that the new method does not have


def repairs(context: Context, *, name: str = "fit_generator") -> Iterator[Fix]:
    """Yield the method that accepts a generator, and the new place of the arguments."""
    method = name.removesuffix("_generator")
    more = ", steps_per_epoch=..., epochs=..." if method == "fit" else ""
    yield Fix(text=f"Call {method} instead: model.{method}(generator{more})")
    yield Fix(text="The arguments workers and use_multiprocessing now belong to the generator: keras.utils.PyDataset(workers=4)")


@rule(words=("_generator",))
def check(script: Script) -> Findings:
    """Report every call on a value that is definitely a Keras 3 model."""
    for call in calls_of_models(script, *GENERATOR_METHODS):
        instead = call.method.removesuffix("_generator")
        message = f"{call.method} is missing in Keras 3 (in TensorFlow since 2.16)."
        same = len(call.node.args) <= 1 and not (call.starred or _MOVED & set(call.keywords))  # the second argument was the steps
        edit = rename_method(call.node, call.method, instead) if same else None
        steps = "" if len(call.node.args) <= 1 else ", and pass the steps by name"
        yield at(call.node, message, f"Call {instead}, which also accepts generators{steps}.", edit)
