"""A model is built outside the scope of the script's strategy.

Symptom:
    RuntimeError: Need to be inside "with strategy.scope()" for <tensorflow.python.distribute.mirrored_strategy.MirroredStrategy>
    ValueError: `colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope()
    RuntimeError: Mixing different tf.distribute.Strategy objects
    ValueError: Variable (<tf.Variable ...>) was not created in the distribution strategy scope
    - Only GPU 0 is used, the others are idle.
Cause:
    A strategy mirrors the variables that are created inside its scope. A model built outside has plain variables: compiling it
    inside the scope fails, and training it without the scope silently uses one GPU. The same applies to parts of a model,
    such as a pretrained base, and to a model that is trained through strategy.run.
Fix:
    1. Build and compile the model under: with strategy.scope():
Verify:
    nvidia-smi shows all GPUs busy during training, and model.distribute_strategy is your strategy.
Unless:
    The model should stay on one device, and the strategy is for another model. Keras 3 can train a model with a part built
    outside if that part is frozen: in scripts that set trainable to False anywhere, parts are not reported.
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

from gpucheck.commands.lint.layers import weights
from gpucheck.commands.lint.lookup import before, constant, in_uncalled_function, is_call, options
from gpucheck.commands.lint.models import MIRRORED, built, inside, optimizer_outside, outside, several_replicas, strategies_around
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Attribute, Call, Function, Place, Value

VERBS = {"compile": "it is compiled", "fit": "it is trained"}
FIX = "Build the model, and compile it, under: with strategy.scope():"


@rule(explains=("variable-outside-scope",), words=("Strategy",))
def check(script: Script) -> Findings:
    """Report models built outside the scope and compiled inside, with parts built outside, or built and trained outside."""
    made = script.calls_named(*MIRRORED)
    if not made or script.hidden_scope:
        return
    for call, models in script.calls_on_models("compile", "fit"):
        if several_replicas(strategies_around([call])) and all(map(outside, models)):
            message = f"The model is built outside the scope in which {VERBS[call.method]} ({script.where(call.node)})."
            yield from (at(model.node, message, FIX) for model in models)
    for call, models in script.trainings if len(made) == 1 and not _used(script, made[0]) else ():
        if all(before(made[0].place, model.place) and outside(model, made[0]) for model in models):
            trained, scope = script.where(call.node), script.where(made[0].node)
            message = f"The model is built and trained ({trained}) outside the scope of the strategy ({scope})"
            yield from (at(model.node, f"{message}, so it trains on one device.", FIX) for model in models)
    if not any(constant(store.key) == "trainable" and constant(store.value) is not True for store in script.stores):
        yield from _parts_outside(script, made)
        yield from _custom_loops(script, made)


def _parts_outside(script: Script, made: list[Call]) -> Findings:
    """Report models in a scope that have weights created before the scope was entered."""
    for model in {id(model): model for _, models in script.trainings if len(models) == 1 for model in models}.values():
        around = strategies_around([model])
        if len(around) == 1 and around[0] in made and inside(model.place, around[0]):
            for part, by in weights(script, model):
                if outside(by, around[0]) and not any(_passed_to_unknown(script, one) for one in (part, model)):
                    where = script.where(model.node)
                    yield at(by.node, f"This part is built outside the scope in which the model is built ({where}).", FIX)


def _custom_loops(script: Script, made: list[Call]) -> Findings:
    """Report models whose weights are created outside the scope of the strategy that runs the training step."""
    for run in script.methods("run"):
        steps, runners = list(options(run.argument("fn", 0))), list(options(run.receiver))
        if len(runners) != 1 or runners[0] not in made or len(steps) != 1 or not isinstance(steps[0], Function):
            continue
        for call in script.methods("apply_gradients"):
            if call.place.path[:1] == ((id(steps[0].node), -1),):
                models = [model for model in _updated(call) if _exists_before(model.place, run.place)]
                message = f"This is built outside the scope of the strategy that trains it ({script.where(run.node)})."
                for made_late in [late for model in models for late in _outside_scope(script, model, call.receiver, runners[0])]:
                    yield at(made_late.node, message, "Build the model, and its optimizer, under: with strategy.scope():")


def _exists_before(model: Place, run: Place) -> bool:
    """Whether the model is created before the step runs: a step that is never called uses the last of several models."""
    return model.order < run.order and (not in_uncalled_function(run) or model.path[:1] == run.path[:1])


def _outside_scope(script: Script, model: Call, optimizer: Value, strategy: Call) -> list[Call]:
    """Return the calls that create the model's weights outside the scope; Keras 2 creates those without a shape in the step.

    So does Keras 3, but its optimizer has variables from the start.
    """
    late = [by for _, by in weights(script, model) if outside(by, strategy)]
    new = script.standalone_keras or script.uses_keras_3
    both = optimizer_outside(optimizer, strategy) and outside(model, strategy)
    return late or ([model] if new and both else [])


def _updated(call: Call) -> list[Call]:
    """Return the models whose weights ``optimizer.apply_gradients(zip(gradients, model.trainable_variables))`` changes."""
    pairs = call.argument("grads_and_vars", 0)
    variables = pairs.args[1] if is_call(pairs, "builtins.zip") and len(pairs.args) == 2 else None
    if not isinstance(variables, Attribute) or variables.name not in ("trainable_variables", "trainable_weights"):
        return []
    return built(variables.of)


def _passed_to_unknown(script: Script, value: Call) -> bool:
    """Whether a model is passed to an untraced function, which may freeze it; Keras' functions do not."""
    calls = [call for call in script.unfollowed if not (call.method == "add" or isinstance(call.function, Call))]
    given = [given for call in calls if not call.name.startswith(("keras.", "tensorflow.")) for given in call.given]
    return any(option is value for one in given for option in options(one))


def _used(script: Script, strategy: Call) -> bool:
    """Whether the strategy is used: its scope is entered, a method is called, or it is an argument of a call."""
    owners = [function.of for call in script.calls for function in options(call.function) if isinstance(function, Attribute)]
    return script.passed_on(strategy) or any(option is strategy for owner in owners for option in options(owner))
