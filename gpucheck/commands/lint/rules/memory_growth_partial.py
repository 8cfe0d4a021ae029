"""Memory growth is set for the first GPU only, while the other GPUs stay visible.

Symptom:
    ValueError: Memory growth cannot differ between GPU devices
Cause:
    TensorFlow requires the same setting for all GPUs that it uses. gpus[0] is enough on a machine with one GPU; with several
    GPUs the script fails when TensorFlow initializes them.
Fix:
    1. Set it for each GPU: for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, True)
    2. Or use only that GPU: tf.config.set_visible_devices(gpus[0], "GPU")
Verify:
    The script starts on a machine with several GPUs.
Unless:
    The script only runs with one visible GPU: add the comment # gpucheck: ignore[memory-growth-partial]
Example:
    bad:
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            tf.config.experimental.set_memory_growth(gpus[0], True)
    good:
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
References:
    https://www.tensorflow.org/api_docs/python/tf/config/experimental/set_memory_growth
"""

from gpucheck.commands.lint.devices import compares_gpu_count, expected_to_fail, listed_device
from gpucheck.commands.lint.lookup import constant
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call

RESTRICTED = ("tensorflow.config.set_visible_devices", "tensorflow.config.set_logical_device_configuration")
FIX = "Set it for every GPU in a loop, or hide the others with tf.config.set_visible_devices."
VARIABLES = {"CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH"}


@rule(severity="warning", explains=("memory-growth-mixed",), words=("set_memory_growth",))
def check(script: Script) -> Findings:
    """Report settings that are all for the same position of the list, if nothing hides the other GPUs."""
    settings = [call for call in script.calls_named("tensorflow.config.set_memory_growth") if not expected_to_fail(call.place)]
    devices = [listed_device(call.argument("device", 0), ("tensorflow.config.list_physical_devices",)) for call in settings]
    positions = {device and device.index for device in devices}
    if len(positions) != 1 or None in positions:
        return
    named = [setting.name for setting in script.settings] + [constant(value) for call in script.calls for value in call.args]
    if script.mentions(*RESTRICTED) or any(name in VARIABLES for name in named):
        return
    listed = devices[0] and devices[0].of
    kind = constant(listed.argument("device_type", 0)) if isinstance(listed, Call) else None
    if kind == "GPU" and not compares_gpu_count(script):
        message = f"Memory growth is set for GPU {positions.pop()} only: with several GPUs, TensorFlow fails to initialize them."
        yield at(settings[0].node, message, FIX)
