"""The numbers of a list of GPUs start at 1, but TensorFlow counts from 0.

Symptom:
    - InvalidArgumentError: ... unknown device /job:localhost/replica:0/task:0/device:GPU:8
    - The first GPU is idle.
Cause:
    TensorFlow numbers a machine's GPUs from 0: eight GPUs are /GPU:0 to /GPU:7. With a list from 1 to 8, the first GPU is not
    used and the last one does not exist.
Fix:
    1. Count from 0: ["/gpu:0", ..., "/gpu:7"]
    2. Or use TensorFlow's list: tf.config.list_logical_devices("GPU")
Verify:
    nvidia-smi shows memory of this process on all GPUs.
Unless:
    The machine has one GPU more than the list, and the first is deliberately unused. Only lists of 4, 8 or 16 GPUs are reported.
Example:
    bad:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy(["/gpu:1", "/gpu:2", "/gpu:3", "/gpu:4"])
    good:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1", "/gpu:2", "/gpu:3"])
References:
    https://www.tensorflow.org/guide/gpu
    https://www.tensorflow.org/api_docs/python/tf/device
"""

import re

from gpucheck.commands.lint.lookup import constant
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Each, Items, Value

GPU = re.compile(r"/?(?:device:)?gpu:(\d+)", re.IGNORECASE)


@rule(severity="warning", words=("gpu:1", "GPU:1"))
def check(script: Script) -> Findings:
    """Report a list literal of all numbers from 1 to 4, 8 or 16 that is passed to tf.device or MirroredStrategy."""
    for call in script.calls_named("tensorflow.device", "tensorflow.distribute.MirroredStrategy"):
        numbers = _numbers(call.argument("devices", 0) or call.argument("device_name", 0))
        last = len(numbers)
        if last in (4, 8, 16) and numbers == list(range(1, last + 1)):
            message = f"The GPUs are numbered from 1 to {last}, but TensorFlow counts from 0."
            yield at(call.node, message, f"Use the numbers 0 to {last - 1}.")


def _numbers(value: Value | None) -> list[int]:
    every = value.items if isinstance(value, Items) else value.options if isinstance(value, Each) else ()
    matches = [GPU.fullmatch(str(constant(option))) for option in every]
    return [int(match[1]) if match else -1 for match in matches]
