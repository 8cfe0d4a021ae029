"""Memory growth is set after the GPUs were initialized.

Symptom:
    RuntimeError: Physical devices cannot be modified after being initialized
Cause:
    TensorFlow decides how to allocate GPU memory when it initializes a GPU: at the first operation, tensor, list of logical
    devices, tf.distribute strategy or dataset made of tensors. After that set_memory_growth raises an exception, or has no
    effect if the exception is caught.
Fix:
    1. Call it first after the import, before any tensor, model, dataset or strategy.
    2. Or set it outside the program
       $ export TF_FORCE_GPU_ALLOW_GROWTH=true
Verify:
    The call raises no exception, and nvidia-smi shows memory use that grows with the model.
Unless:
    Never: the call can't have an effect there. Not reported: a call in a notebook that catches RuntimeError, a test that
    expects the exception, and a function that Ray, joblib, Dask or Spark may run in a separate process.
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

from gpucheck.commands.lint.devices import described, expected_to_fail, first_start
from gpucheck.commands.lint.environment import WORKERS
from gpucheck.commands.lint.lookup import constant, in_uncalled_function
from gpucheck.commands.lint.script import Findings, Script, at

SEVERITY = "error"
EXPLAINS = ("memory-growth-too-late",)
WORDS = ("set_memory_growth",)


def check(script: Script) -> Findings:
    """Report a setting that certainly comes after the GPUs were initialized, and after no other setting."""
    settings = script.named("tensorflow.config.set_memory_growth")
    workers = bool(script.modules() & WORKERS)
    for call in settings:
        if workers and in_uncalled_function(call.place):
            continue  # may run in a separate process
        start = first_start(script, call.place)
        if start is None or constant(call.argument("enable", 1)) is False:
            continue
        if any(other.place.order < start.place.order for other in settings):
            continue  # setting the same value again is accepted
        if expected_to_fail(call.place) or (script.notebook and call.place.catches("RuntimeError")):
            continue
        message = f"Memory growth is set too late: {described(script, start)} has already initialized the GPUs."
        yield at(call.node, message, 'Move it directly after "import tensorflow".')
