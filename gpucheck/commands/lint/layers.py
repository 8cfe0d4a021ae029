"""Helpers for rules about the known layers of a Keras model, and the calls that create their weights."""

import re
from collections.abc import Iterable
from typing import Any

from gpucheck.commands.lint.lookup import before, constant, is_none, options
from gpucheck.commands.lint.script import Script
from gpucheck.commands.lint.values import Attribute, Call, Items, Operation, Value

# Layers that create trainable weights as soon as the shape of their input is known.
WEIGHTED = re.compile(
    r"keras\.layers\.(\w+\.)?(Dense|EinsumDense|((Separable|Depthwise)?Conv|Convolution)[123]D(Transpose)?|LSTM|GRU|SimpleRNN|Embedding)"
)
APPLICATION = re.compile(r"keras\.applications\.(\w+\.)?[A-Z]\w+")
SHAPES = frozenset(("input_shape", "batch_input_shape", "input_dim"))
INPUTS = ("keras.Input", "keras.layers.InputLayer")
LAYERS_MAX = 500
POLICY_SETTER = re.compile(r"keras\.(mixed_precision\.set_((global|dtype)_)?policy|config\.set_dtype_policy)")
POLICY = re.compile(r"keras\.(mixed_precision\.(DType)?Policy|(dtype_policies\.)?DTypePolicy)")


def policies(script: Script) -> list[tuple[Call, Any]]:
    """Return the calls that choose a dtype policy for all later layers, and the policy's name; None if it is unknown."""
    return [(call, _policy_name(call)) for call in script.calls if POLICY_SETTER.fullmatch(call.name)]


def _policy_name(setter: Call) -> Any:
    policy = setter.argument("policy", 0) or setter.argument("dtype_policy", 0)
    if isinstance(policy, Call) and POLICY.fullmatch(policy.name):
        policy = policy.argument("name", 0)
    return constant(policy)


def stack(script: Script, model: Call) -> list[tuple[Value, Call]]:
    """Return the layers of a Sequential, each with the call that adds it; none if the layers are unknown."""
    layers = model.argument("layers", 0)
    if model.starred or not (layers is None or isinstance(layers, Items)):
        return []
    pairs: list[tuple[Value, Call]] = [(layer, model) for layer in layers.items] if isinstance(layers, Items) else []
    for call in script.methods("add", "pop"):
        layer = call.argument("layer", 0)
        if call.receiver is model and call.method == "add" and layer is not None and before(model.place, call.place):
            pairs.append((layer, call))
        elif any(option is model for option in options(call.receiver)):
            return []
    return pairs


def builds(script: Script, model: Call, call: Call) -> bool:
    """Whether a model definitely has weights after a call: the one that creates it, ``add`` or ``build``."""
    shape = call.argument("input_shape", 0) if call.method == "build" else None
    if not is_none(shape):
        layers = stack(script, model)
        return any(isinstance(layer, Call) and _trained(layer) and before(by.place, call.place) for layer, by in layers)
    return any(by is call or before(by.place, call.place) for _, by in weights(script, model))


def weights(script: Script, model: Call) -> list[tuple[Call, Call]]:
    """Return the layers and models whose weights are definitely created, each with the call that creates them.

    A layer without an input shape has no weights yet.
    """
    first = {id(call.function): call for call in reversed(script.calls)}  # the first call builds a layer
    found: list[tuple[Call, Call]] = []
    left: list[Value | None] = [model]
    seen: set[int] = set()
    while left and len(seen) <= LAYERS_MAX:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (Items, Operation)):
            left += value.items if isinstance(value, Items) else value.parts
        elif isinstance(value, Attribute) and value.name == "output":
            left.append(value.of)
        elif isinstance(value, Call):
            made, inner = _weights_of(script, value, first)
            found += made
            left += inner
    return found


def _weights_of(script: Script, value: Call, first: dict[int, Call]) -> tuple[list[tuple[Call, Call]], Iterable[Value | None]]:
    """Return the weights that a model or a layer's output definitely has, and the values in which to look for others."""
    layer = value.function
    if APPLICATION.fullmatch(value.name):
        return [(value, value)], ()
    if value.name == "keras.Model":
        return [], (value.argument("outputs", 1),)
    if value.name == "keras.Sequential":
        every = stack(script, value)
        shaped = bool(every) and _has_shape(every[0][0]) and every[0][1].place.path == value.place.path
        trained = [(layer, by) for layer, by in every if isinstance(layer, Call) and _trained(layer) and shaped]
        return trained, [layer for layer, _ in every]
    if isinstance(layer, Call):
        return [(layer, first[id(layer)])] if _trained(layer) else [], (layer, *value.args)
    return [], value.args if value.name.startswith(("keras.layers.", "tensorflow.")) else ()


def _trained(layer: Call) -> bool:
    return bool(WEIGHTED.fullmatch(layer.name)) and not layer.starred and "trainable" not in layer.keywords


def _has_shape(layer: Value) -> bool:
    return isinstance(layer, Call) and (layer.name in INPUTS or not SHAPES.isdisjoint(layer.keywords))
