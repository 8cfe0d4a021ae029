"""Memory growth, visible or logical devices are set after the GPUs were initialized.

Symptom:
    RuntimeError: Physical devices cannot be modified after being initialized
    RuntimeError: Visible devices cannot be modified after being initialized
    RuntimeError: Virtual devices cannot be modified after being initialized
Cause:
    TensorFlow applies these settings when it initializes the GPUs: at the first operation, tensor, list of logical devices,
    tf.distribute strategy or dataset made of tensors. After that set_memory_growth, set_visible_devices and
    set_logical_device_configuration raise an exception, or have no effect if the exception is caught.
Fix:
    1. Call it directly after the import, before any tensor, model, dataset or strategy.
    2. Or set memory growth outside the program
       $ export TF_FORCE_GPU_ALLOW_GROWTH=true
    3. Or select the GPUs outside the program, by their numbers
       $ export CUDA_VISIBLE_DEVICES=0
Verify:
    The call raises no exception, and nvidia-smi shows memory use that grows with the model.
Unless:
    Never: the call has no effect there. Not reported: a call in a notebook that catches RuntimeError, a test that expects
    the exception, and a function that Ray, joblib, Dask or Spark may run in a separate process.
Example:
    bad:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    good:
        import tensorflow as tf
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        strategy = tf.distribute.MirroredStrategy()
References:
    https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
"""

from gpucheck.commands.lint.devices import LISTS, described, expected_to_fail, first_start
from gpucheck.commands.lint.lookup import all_calls, constant, in_uncalled_function, options
from gpucheck.commands.lint.script import WORKERS, Findings, Script, at, rule
from gpucheck.commands.lint.values import Call

WORDS = ("set_memory_growth", "set_visible_devices", "set_logical_device_configuration", "set_virtual_device_configuration")
UNCHANGED = (*LISTS, "tensorflow.config.get_visible_devices")
KINDS = {
    "Memory growth is": ("set_memory_growth",),
    "Visible devices are": ("set_visible_devices",),
    "Logical devices are": ("set_logical_device_configuration", "set_virtual_device_configuration"),
}


@rule(explains=("memory-growth-too-late",), words=WORDS)
def check(script: Script) -> Findings:
    """Report a setting that definitely follows the initialization of the GPUs, and no other setting of its kind."""
    for what, names in KINDS.items():
        settings = script.calls_named(*(f"tensorflow.config.{name}" for name in names))
        for call in settings:
            if (start := _start(script, call)) is None or any(other.place.order < start.place.order for other in settings):
                continue  # setting the same value again is accepted
            message = f"{what} set too late: {described(script, start)} has already initialized the GPUs."
            yield at(call.node, message, 'Move it directly after "import tensorflow".')


def _start(script: Script, call: Call) -> Call | None:
    """Return the call that initialized the GPUs before a setting; None if there is none, or the setting may be accepted."""
    if script.modules() & WORKERS and in_uncalled_function(call.place):
        return None  # may run in a separate process
    if constant(call.argument("enable", 1)) is False or all_calls(options(call.argument("devices", 0)), *UNCHANGED):
        return None  # as it is by default
    if expected_to_fail(call.place) or (script.notebook and call.place.catches("RuntimeError")):
        return None
    return first_start(script, call.place)
