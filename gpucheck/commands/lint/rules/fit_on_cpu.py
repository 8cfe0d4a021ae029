"""A model is trained under tf.device("/CPU:0"), on a machine whose GPUs stay visible.

Symptom:
    nvidia-smi shows that the GPU holds memory and computes nothing.
    Training is as slow as without a GPU.
Cause:
    What stands under with tf.device("/CPU:0") is placed on the processor: also every step of a fit that stands there.
Fix:
    1. Take model.fit, and the model itself, out of the with block: TensorFlow then places them on the GPU.
    2. Keep only what must be on the processor under tf.device: reading data, an embedding too large for the GPU.
Verify:
    The GPU's utilisation rises: nvidia-smi, or gpucheck bench for what this machine can do.
Unless:
    It is meant: a script that hides the GPUs, that also trains on a GPU by name, or asks whether there is one, is not reported.
Example:
    bad:
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(loss="mse")
        with tf.device("/CPU:0"):
            model.fit(x, y)
    good:
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
References:
    https://www.tensorflow.org/guide/gpu#manual_device_placement
"""

import re
from collections.abc import Iterator

from gpucheck.commands.lint.environment import settings
from gpucheck.commands.lint.lookup import constant, in_uncalled_function, is_call, options
from gpucheck.commands.lint.models import trainings
from gpucheck.commands.lint.script import Finding, Script, at
from gpucheck.commands.lint.values import Place, Value
from gpucheck.core.model import Severity

SEVERITY = Severity.WARNING
WORDS = ("device(",)
DEVICES = ("tensorflow.device", "keras.device")
CPU = re.compile(r"(/job:\w+|/replica:\d+|/task:\d+)*/?(device:)?cpu(:\d+|:\*)?", re.IGNORECASE)
ASKS = (
    "tensorflow.config.set_visible_devices",
    "tensorflow.config.list_physical_devices",
    "tensorflow.config.list_logical_devices",
    "tensorflow.test.is_gpu_available",
    "tensorflow.test.gpu_device_name",
)


def check(script: Script) -> Iterator[Finding]:
    """Every fit that certainly stands under a device of the processor, where nothing says that GPUs are known of."""
    named = [constant(call.argument("device_name", 0)) for call in script.named(*DEVICES)]
    hides = any(setting.name == "CUDA_VISIBLE_DEVICES" for setting in settings(script))
    if hides or script.mentions(*ASKS) or not all(isinstance(name, str) and CPU.fullmatch(name) for name in named):
        return
    for call, _ in trainings(script):
        if _on_cpu(call.place) and not in_uncalled_function(call.place):
            yield at(
                call.node,
                "fit stands under a device of the processor, so that the GPU does not train.",
                "Take it out of the with block.",
            )


def _on_cpu(place: Place) -> bool:
    return any(_is_device(context) for context in place.contexts)


def _is_device(context: Value) -> bool:
    choices = list(options(context))
    return bool(choices) and all(is_call(option, *DEVICES) for option in choices)
