"""Memory growth is asked for after something has already started the GPUs.

Symptom:
    RuntimeError: Physical devices cannot be modified after being initialized
Cause:
    TensorFlow decides how it takes GPU memory when it starts a GPU: at the first operation, the first tensor, the first list of
    logical devices, the first tf.distribute strategy, the first dataset made of tensors. After that set_memory_growth fails,
    or, where the exception is caught, does nothing.
Fix:
    1. Make it the first thing after the import, before any tensor, model, dataset or strategy.
    2. Or say it outside the program
       $ export TF_FORCE_GPU_ALLOW_GROWTH=true
Verify:
    The call returns without an exception, and nvidia-smi shows memory that grows with the model.
Unless:
    Never: the call can't have an effect there. In a notebook, a call that catches RuntimeError is left alone, and so is a test
    that expects the exception, and a function that Ray, joblib, Dask or Spark may run in a process of its own.
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

from collections.abc import Iterator

from gpucheck.commands.lint.devices import expected_to_fail, shown, started
from gpucheck.commands.lint.environment import WORKERS
from gpucheck.commands.lint.lookup import constant, in_uncalled_function
from gpucheck.commands.lint.script import Finding, Script, at
from gpucheck.core.model import Severity

SEVERITY = Severity.ERROR
WORDS = ("set_memory_growth",)
SETTER = "tensorflow.config.set_memory_growth"


def check(script: Script) -> Iterator[Finding]:
    """A setting that certainly comes after a start, and after no other setting."""
    settings = list(script.named(SETTER))
    workers = bool(script.modules() & WORKERS)
    for call in settings:
        if workers and in_uncalled_function(call.place):
            continue  # in a process of its own, or not: who can say
        start = started(script, call.place)
        if start is None or constant(call.argument("enable", 1)) is False:
            continue
        if any(other.place.order < start.place.order for other in settings):
            continue  # what is set again to the same value is accepted
        if expected_to_fail(call.place) or (script.notebook and call.place.catches("RuntimeError")):
            continue
        yield at(
            call.node,
            f"Memory growth is set after {shown(start)} in {script.where(start.node)} has started the GPUs, which is too late.",
            'Move it right behind "import tensorflow".',
        )
