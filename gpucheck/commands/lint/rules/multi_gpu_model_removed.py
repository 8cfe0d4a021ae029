"""The script uses multi_gpu_model, which has been removed from Keras.

Symptom:
    AttributeError: module 'keras.utils' has no attribute 'multi_gpu_model'
    ImportError: cannot import name 'multi_gpu_model' from 'tensorflow.keras.utils'
Cause:
    multi_gpu_model split each batch on one GPU and gathered the results there. TensorFlow removed it in April 2020.
Fix:
    1. Use a strategy instead: strategy = tf.distribute.MirroredStrategy(), and build and compile the model under
       with strategy.scope():
Verify:
    The script runs without the error, and nvidia-smi shows all GPUs busy.
Unless:
    The script must also run on an old TensorFlow: catch the ImportError, and it is not reported.
Example:
    bad:
        from keras.utils import multi_gpu_model
        parallel_model = multi_gpu_model(model, gpus=4)
    good:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = make_model()
References:
    https://www.tensorflow.org/guide/distributed_training
    https://keras.io/guides/distributed_training_with_tensorflow/
"""

from gpucheck.commands.lint.names import canonical
from gpucheck.commands.lint.removed import CAUGHT
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.core.compat.removed import MULTI_GPU_MODEL

FIX = "Use tf.distribute.MirroredStrategy, and build and compile the model under: with strategy.scope():"


@rule(words=("multi_gpu_model",))
def check(script: Script) -> Findings:
    """Report every call, or the import if nothing calls it. Uses guarded by except are not reported."""
    names = [(event, canonical(f"{event.module}.{name}")) for event in script.imports for name in event.names]
    imports = [event for event, name in names if MULTI_GPU_MODEL.fullmatch(name)]
    calls = [call for call in script.calls if MULTI_GPU_MODEL.fullmatch(call.name)]
    if any(event.place.catches(*CAUGHT) for event in imports) or script.checks_versions:
        return
    for event in calls or imports:
        if not event.place.catches(*CAUGHT):
            yield at(event.node, "multi_gpu_model was removed from Keras and TensorFlow in 2020.", FIX)
