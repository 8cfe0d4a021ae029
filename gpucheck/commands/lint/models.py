"""Helpers about Keras models, strategies and their scopes."""

import re
from collections.abc import Iterable

from gpucheck.commands.lint.lookup import all_calls, in_uncalled_function, is_call, options
from gpucheck.commands.lint.values import Attribute, Call, Choice, Class, Place, Value

TPU = "tensorflow.distribute.TPUStrategy"
ONE_HOST = "tensorflow.distribute.MirroredStrategy"
WORKERS = "tensorflow.distribute.MultiWorkerMirroredStrategy"
# Strategies with several replicas.
MIRRORED = {TPU, ONE_HOST, WORKERS, "tensorflow.distribute.CentralStorageStrategy"}
STRATEGY = re.compile(r"tensorflow\.distribute\.(\w+Strategy|get_strategy)")
BUILDS = re.compile(
    r"keras\.(Sequential|Model|Functional|models\.(clone_model|model_from_json|load_model)|applications\.(\w+\.)?[A-Z]\w+)"
)
# Context managers that are not a strategy's scope.
PLAIN = re.compile(
    r"(tensorflow|keras|builtins\.open|contextlib\.(suppress|nullcontext|redirect_std\w+)|warnings|tempfile|time|zipfile|tarfile|gzip"
    r"|threading|numpy|h5py|tqdm)\b"
)


def is_model(value: Value) -> bool:
    """Whether a value is definitely a call that builds a new Keras model."""
    if not isinstance(value, Call):
        return False
    if isinstance(value.function, Class):
        return value.function.descends(lambda base: base in ("keras.Model", "keras.Sequential"))
    return bool(BUILDS.fullmatch(value.name))


def built(value: Value | None) -> list[Call]:
    """Return the calls that built a model; none if the value may be something else."""
    choices = list(options(value))
    models = [option for option in choices if isinstance(option, Call) and is_model(option)]
    return models if len(models) == len(choices) else []


def several_replicas(strategies: list[Value]) -> bool:
    """Whether one of these strategies definitely has several replicas, and the others are fallbacks for fewer devices."""
    return any(is_call(option, *MIRRORED) for option in strategies) and all(map(is_strategy, strategies))


def is_strategy(value: Value) -> bool:
    """Whether a value is definitely a tf.distribute strategy."""
    return isinstance(value, Call) and bool(STRATEGY.fullmatch(value.name))


def scope_of(context: Value) -> list[Value] | None:
    """Return the strategies whose scope a with statement enters: [] for none; None if unknown."""
    strategies: list[Value] = []
    for option in options(context):
        if isinstance(option, Call) and option.method == "scope":
            strategies += options(option.receiver)
        elif not _is_plain(option):
            return None
    return strategies


def strategies_around(calls: Iterable[Call]) -> list[Value]:
    """Return the known strategies whose scopes contain these calls."""
    return [strategy for call in calls for context in call.place.contexts for strategy in scope_of(context) or []]


def on_tpu(models: list[Call]) -> bool:
    """Whether models are definitely built in the scope of a TPU strategy."""
    return all_calls(strategies_around(models), TPU)


def _is_plain(context: Value) -> bool:
    while isinstance(context, Call) and isinstance(context.function, Attribute):
        context = context.receiver
    return isinstance(context, Call) and bool(PLAIN.match(context.name))


def inside(place: Place, strategy: Call | None = None) -> bool | None:
    """Whether a place is inside a strategy's scope (any strategy's by default); None if unknown.

    A function that the file never calls may be called in a scope elsewhere, unless the function creates the strategy.
    """
    sure = not in_uncalled_function(place) or (strategy is not None and strategy.place.path[:1] == place.path[:1])
    for context in place.contexts:
        scopes = scope_of(context)
        if scopes is None or isinstance(context, Choice):
            sure = False
        elif scopes and (strategy is None or any(scope is strategy for scope in scopes)):
            return True
        elif scopes and not all(map(is_strategy, scopes)):
            sure = False
    return False if sure else None


def outside(call: Call, strategy: Call | None = None) -> bool:
    """Whether a call is definitely outside the scope of a strategy, or of any."""
    return inside(call.place, strategy) is False


def optimizer_outside(value: Value, strategy: Call | None = None) -> bool:
    """Whether a value is definitely an optimizer that is created outside the scope of a strategy, or of any."""
    return isinstance(value, Call) and value.name.startswith("keras.optimizers.") and outside(value, strategy)
