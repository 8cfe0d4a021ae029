"""Helpers for rules about removed functions: calls that definitely fail, and how to run an old program unchanged."""

from collections.abc import Iterator, Set

from gpucheck.commands.lint.devices import expected_to_fail
from gpucheck.commands.lint.lookup import constant, options
from gpucheck.commands.lint.script import Script
from gpucheck.commands.lint.values import Call, Class, Name, Place
from gpucheck.core.model import Fix

COMPATIBLE = Fix(text="Run the program for TensorFlow 1 unchanged: import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()")
CAUGHT = ("AttributeError", "ImportError", "ModuleNotFoundError")


def fails(name: str, place: Place, assigned: Set[str]) -> bool:
    """Whether the use of a removed name definitely fails: the program neither assigns it nor expects the error."""
    return assigned.isdisjoint((name, name.rpartition(".")[0])) and not expected_to_fail(place, *CAUGHT)


def calls_of_models(script: Script, *methods: str) -> Iterator[Call]:
    """Yield calls of these methods on values that are definitely Keras 3 models, unless a class in the file defines them."""
    for call, models in script.calls_on_models(*methods) if script.uses_keras_3 else ():
        own = any(isinstance(model.function, Class) and model.function.member(call.method) for model in models)
        if not own and not expected_to_fail(call.place, "AttributeError"):
            yield call


def assigned_names(script: Script) -> Iterator[str]:
    """Yield names that the program assigns, and modules to which it assigns unknown names."""
    for store in script.stores:
        for of in options(store.of):
            if isinstance(of, Name):
                key = constant(store.key)
                yield f"{of.path}.{key}" if key is not None else of.path
