"""A model is built outside the scope of the strategy that the script made for it.

Symptom:
    RuntimeError: Need to be inside "with strategy.scope()" for <tensorflow.python.distribute.mirrored_strategy.MirroredStrategy>
    ValueError: Variable (<tf.Variable ...>) was not created in the distribution strategy scope
    Only GPU 0 works, the others idle.
Cause:
    A strategy mirrors the variables that are created inside its scope. A model built outside has plain variables: compiling it
    inside the scope fails, and training it without the scope quietly uses one GPU.
Fix:
    1. Build and compile the model under: with strategy.scope():
Verify:
    nvidia-smi shows all GPUs at work while it trains, and model.distribute_strategy is your strategy.
Unless:
    The model is meant to stay on one device, while the strategy serves another one.
Example:
    bad:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
    good:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
        model.fit(x, y)
References:
    https://www.tensorflow.org/guide/distributed_training
    https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#scope
"""

from collections.abc import Iterator

from gpucheck.lint.models import built, hidden_scope, inside, scope_of, strategies, trainings
from gpucheck.lint.script import Finding, Script, at
from gpucheck.lint.values import Call, before, options
from gpucheck.model import Severity

SEVERITY = Severity.ERROR
WORDS = ("Strategy",)
VERBS = {"compile": "it is compiled", "fit": "it is trained"}
FIX = "Build the model, and compile it, under: with strategy.scope():"


def check(script: Script) -> Iterator[Finding]:
    """Built outside and compiled inside; or built and trained outside, with a strategy that nothing uses."""
    made = list(strategies(script))
    if not made or hidden_scope(script):
        return
    for call in script.methods("compile", "fit"):
        models = built(call.receiver)
        around = [scope for context in call.place.contexts for scope in scope_of(context) or []]
        if models and around and all(one in made for one in around) and _all_outside(models):
            for model in models:
                yield at(
                    model.node,
                    f"The model is built outside the scope in which {VERBS[call.method]} ({script.where(call.node)}).",
                    FIX,
                )
    unused = [one for one in made if not _used(script, one)]
    for call, models in trainings(script):
        for strategy in unused:
            if len(made) == 1 and all(before(strategy.place, model.place) for model in models) and _all_outside(models, strategy):
                for model in models:
                    yield at(
                        model.node,
                        f"The model is built and trained ({script.where(call.node)}) outside the scope of the strategy"
                        f" ({script.where(strategy.node)}), so it trains on one device.",
                        FIX,
                    )


def _all_outside(models: list[Call], strategy: Call | None = None) -> bool:
    return all(inside(model.place, strategy) is False for model in models)


def _used(script: Script, strategy: Call) -> bool:
    """Whether anything is done with it: a scope entered, a method called, itself handed on."""
    return script.passed_on(strategy) or any(
        option is strategy for call in script.calls if call.method for option in options(call.receiver)
    )
