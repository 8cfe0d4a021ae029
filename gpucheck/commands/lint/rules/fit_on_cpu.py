"""A model is trained under tf.device("/CPU:0") although GPUs are visible.

Symptom:
    - nvidia-smi shows memory in use on the GPU, but no utilization.
    - Training is as slow as without a GPU.
Cause:
    Operations inside with tf.device("/CPU:0") are placed on the CPU, including every step of fit.
Fix:
    1. Move model.fit, and the model itself, out of the with block: TensorFlow then places them on the GPU.
    2. Keep under tf.device only what must run on the CPU: reading data, an embedding too large for the GPU.
Verify:
    nvidia-smi shows a higher GPU utilization; gpucheck bench measures what this machine can reach.
Unless:
    Training on the CPU is intended. Scripts that hide the GPUs, also train on a named GPU, or check for a GPU are not reported.
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

from gpucheck.commands.lint.devices import LISTS
from gpucheck.commands.lint.lookup import all_calls, constant, in_uncalled_function, options
from gpucheck.commands.lint.script import Findings, Script, at, rule

DEVICES = ("tensorflow.device", "keras.device")
CPU = re.compile(r"(/job:\w+|/replica:\d+|/task:\d+)*/?(device:)?cpu(:\d+|:\*)?", re.IGNORECASE)
HANDLES = ("tensorflow.config.set_visible_devices", "tensorflow.test.is_gpu_available", "tensorflow.test.gpu_device_name")


@rule(severity="warning", words=("device(",))
def check(script: Script) -> Findings:
    """Report every fit that is definitely under a CPU device, unless the script handles GPUs explicitly."""
    named = [constant(call.argument("device_name", 0)) for call in script.calls_named(*DEVICES)]
    hides = any(setting.name == "CUDA_VISIBLE_DEVICES" for setting in script.settings)
    only_cpus = all(isinstance(name, str) and CPU.fullmatch(name) for name in named)
    if hides or script.mentions(*HANDLES, *LISTS) or not only_cpus:
        return
    for call, _ in script.trainings:
        on_cpu = any(all_calls(options(context), *DEVICES) for context in call.place.contexts)
        if on_cpu and not in_uncalled_function(call.place):
            message = "fit runs inside tf.device of the CPU, so the GPU is not used for training."
            yield at(call.node, message, "Move it out of the with block.")
