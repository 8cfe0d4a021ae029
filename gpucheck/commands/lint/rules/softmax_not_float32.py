"""The last softmax of a model computes in float16 or bfloat16, because a mixed precision policy is set.

Symptom:
    loss: nan
    - Accuracy stops rising earlier than in float32.
Cause:
    Under mixed_float16 or mixed_bfloat16 every layer, including the last one, computes in the 16-bit type unless configured
    otherwise. This type rounds probabilities near 0 and 1, and the loss takes their logarithm.
Fix:
    1. Give the last layer dtype="float32".
    2. Or omit the softmax, and use a loss with from_logits=True on float32 outputs.
Verify:
    model.output.dtype is float32.
Unless:
    Never: float32 has no measurable cost there. A softmax inside a model, as in attention, is fine and not reported.
Example:
    bad:
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
        model.compile(loss="sparse_categorical_crossentropy")
    good:
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax", dtype="float32")])
        model.compile(loss="sparse_categorical_crossentropy")
References:
    https://www.tensorflow.org/guide/mixed_precision#building_the_model
"""

import ast
from collections.abc import Iterator

from gpucheck.commands.lint.devices import LISTS
from gpucheck.commands.lint.layers import policies, stack
from gpucheck.commands.lint.lookup import before, constant, earlier, is_call, parts
from gpucheck.commands.lint.script import Finding, Script, at, rule
from gpucheck.commands.lint.values import Call, Class, Function, Items, Name, Place, Value

CLEARERS = ("keras.backend.clear_session", "keras.utils.clear_session", "keras.backend.tensorflow_backend.clear_session")
SOFTMAX = ("keras.activations.softmax", "tensorflow.nn.softmax", "keras.ops.softmax")


@rule(severity="warning", explains=("loss-not-finite",), words=("mixed_float16", "mixed_bfloat16"))
def check(script: Script) -> Iterator[Finding]:
    """Report the last layer of a compiled model if it is created while a mixed policy is definitely active."""
    for _, models in script.calls_on_models("compile"):
        for model in models:
            for last in _last(script, model):
                policy = _policy(script, last)
                if policy is not None and _softmax(last):
                    short = policy.removeprefix("mixed_")
                    message = f"The softmax at the end of the model computes in {short}, because the policy is {policy}."
                    yield at(last.node, message, 'Give this layer dtype="float32".')


def _last(script: Script, model: Call) -> list[Call]:
    """Return the last layer of every output, if it is known."""
    last_layers: list[Value | None] = []
    if model.name == "keras.Sequential":
        layers = stack(script, model)
        if all(by.place.path == model.place.path for _, by in layers):  # layers added in a branch are uncertain
            last_layers = [layer for layer, _ in layers[-1:]]
    elif model.name == "keras.Model":
        outputs = model.argument("outputs", 1)
        every = outputs.items if isinstance(outputs, Items) else (outputs,)
        last_layers = [output.function for output in every if isinstance(output, Call)]
    elif isinstance(model.function, Class):
        last_layers = _returned(model, model.function.member("call"))
    return [layer for layer in last_layers if isinstance(layer, Call) and layer.name.startswith("keras.layers.")]


def _returned(model: Call, method: Value | None) -> list[Value | None]:
    """Return the layers whose output a subclassed model returns; empty if one return is not a softmax layer's output."""
    if not isinstance(method, Function) or isinstance(method.node, ast.Lambda) or not method.node.args.args:
        return []
    itself = method.node.args.args[0].arg
    layers: list[Value | None] = []
    for output in _outputs(method.node):
        path = ast.unparse(output.func).split(".") if isinstance(output, ast.Call) else []
        layers.append(model.attributes.get(path[-1]) if path[:-1] == [itself] else None)
    return layers if all(isinstance(layer, Call) and _softmax(layer) for layer in layers) else []


def _outputs(function: ast.AST) -> Iterator[ast.expr | None]:
    """Yield the value of each return, or the call for ``x = self.head(x)`` directly before ``return x``."""
    for holder in ast.walk(function):
        for block in (getattr(holder, name, None) for name in ("body", "orelse", "finalbody")):
            for index, statement in enumerate(block if isinstance(block, list) else ()):
                if not isinstance(statement, ast.Return):
                    continue
                value, earlier = statement.value, block[index - 1] if index and block else None
                if isinstance(value, ast.Name) and isinstance(earlier, ast.Assign) and len(earlier.targets) == 1:
                    target = earlier.targets[0]
                    value = earlier.value if isinstance(target, ast.Name) and target.id == value.id else value
                yield value


def _softmax(layer: Call) -> bool:
    if layer.starred or "dtype" in layer.keywords:
        return False
    if layer.name == "keras.layers.Softmax":
        return True
    given = {"keras.layers.Dense": ("activation", 1), "keras.layers.Activation": ("activation", 0)}.get(layer.name)
    activation = layer.argument(*given) if given else None
    return constant(activation) == "softmax" or (isinstance(activation, Name) and activation.path in SOFTMAX)


def _active_with_gpus(script: Script, policy: Place, layer: Place) -> bool:
    """Whether the policy is active at the layer on every machine with a GPU: its only conditions are about GPUs."""
    steps = [step for step in policy.path if step not in layer.path]
    branches = {node for node, _ in layer.path}
    if not earlier(policy, layer) or any(node in branches for node, _ in steps):  # in another branch of the same if
        return False
    needed = [script.conditions.get(node) if arm == 0 else None for node, arm in steps]  # of the first branches of ifs
    sources = [list(parts(condition, lambda call: call.name == "builtins.len")) for condition in needed]
    return bool(needed) and all(any(is_call(part, *LISTS) for part in every) for every in sources)


def _policy(script: Script, layer: Call) -> str | None:
    """Return the mixed policy that is definitely active when a layer is created."""
    for setter, name in [pair for pair in policies(script) if pair[0].place.order < layer.place.order][-1:]:
        certain = before(setter.place, layer.place) or _active_with_gpus(script, setter.place, layer.place)
        cleared = any(setter.place.order < call.place.order < layer.place.order for call in script.calls_named(*CLEARERS))
        if certain and not cleared and name in ("mixed_float16", "mixed_bfloat16"):  # Keras 3 goes back to float32 when cleared
            return str(name)
    return None
