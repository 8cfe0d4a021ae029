"""Helpers for rules about the certain layers of a Keras model, and the calls that create their weights."""

import re
from collections.abc import Iterator
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


def policy_setters(script: Script) -> list[Call]:
    """Return the calls that choose a dtype policy for all later layers."""
    return [call for call in script.calls if POLICY_SETTER.fullmatch(call.name)]


def policy_name(setter: Call) -> Any:
    """Return the name of the dtype policy that a call of a setter chooses; None if it is not certain."""
    policy = setter.argument("policy", 0) or setter.argument("dtype_policy", 0)
    if isinstance(policy, Call) and POLICY.fullmatch(policy.name):
        policy = policy.argument("name", 0)
    return constant(policy)


def stack(script: Script, model: Call) -> list[tuple[Value, Call]]:
    """Return the layers of a Sequential, each with the call that adds it; none if the layers are not certain."""
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
    """Whether a model certainly has weights after a call: the one that creates it, ``add`` or ``build``."""
    shape = call.argument("input_shape", 0) if call.method == "build" else None
    if not is_none(shape):
        layers = stack(script, model)
        return any(isinstance(layer, Call) and _trained(layer) and before(by.place, call.place) for layer, by in layers)
    return any(by is call or before(by.place, call.place) for _, by in weights(script, model))


def weights(script: Script, model: Call) -> list[tuple[Call, Call]]:
    """Return the layers and models whose weights are certainly created, each with the call that creates them.

    A layer without an input shape has no weights yet.
    """
    return list(_Search(script).weights_of(model))


class _Search:
    """One traversal of a model that visits each of its parts once."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: set[int] = set()
        self.first = {id(call.function): call for call in reversed(script.calls)}  # the first call builds a layer

    def weights_of(self, model: Call) -> Iterator[tuple[Call, Call]]:
        """Yield the weights of a model or layer."""
        if id(model) in self.seen or len(self.seen) > LAYERS_MAX:
            return
        self.seen.add(id(model))
        if APPLICATION.fullmatch(model.name):
            yield model, model
        elif model.name == "keras.Model":
            yield from self.weights_before(model.argument("outputs", 1))
        elif model.name == "keras.Sequential":
            every = stack(self.script, model)
            shaped = bool(every) and _has_shape(every[0][0]) and every[0][1].place.path == model.place.path
            for layer, by in every:
                if isinstance(layer, Call) and _trained(layer) and shaped:
                    yield layer, by
                elif isinstance(layer, Call):
                    yield from self.weights_of(layer)

    def weights_before(self, output: Value | None) -> Iterator[tuple[Call, Call]]:
        """Yield the weights of the layers between the inputs and an output of a functional model."""
        left = [output]
        while left and len(self.seen) <= LAYERS_MAX:
            output = left.pop()
            if output is None or id(output) in self.seen:
                continue
            if isinstance(output, (Items, Operation)):
                left += output.items if isinstance(output, Items) else output.parts
            elif isinstance(output, Attribute) and output.name == "output" and isinstance(output.of, Call):
                yield from self.weights_of(output.of)
            elif isinstance(output, Call):
                self.seen.add(id(output))
                layer = output.function
                if isinstance(layer, Call):
                    if _trained(layer):
                        yield layer, self.first[id(layer)]
                    yield from self.weights_of(layer)
                    left += output.args
                elif output.name.startswith(("keras.layers.", "tensorflow.")):
                    left += output.args


def _trained(layer: Call) -> bool:
    return bool(WEIGHTED.fullmatch(layer.name)) and not layer.starred and "trainable" not in layer.keywords


def _has_shape(layer: Value) -> bool:
    return isinstance(layer, Call) and (layer.name in INPUTS or not SHAPES.isdisjoint(layer.keywords))
