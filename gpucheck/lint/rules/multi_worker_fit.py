"""A Keras 3 model is trained with fit under MultiWorkerMirroredStrategy, which Keras 3 does not support.

Symptom:
    RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()
    ValueError: in user code: ... keras/src/backend/tensorflow/trainer.py
Cause:
    The fit of Keras 3 does not train over several workers of TensorFlow's strategy. A custom loop with strategy.run does, and
    so does Keras 2.
Fix:
    1. Write the loop: strategy.experimental_distribute_dataset and strategy.run.
    2. Or keep Keras 2: install tf_keras, then: export TF_USE_LEGACY_KERAS=1
    3. Or use the JAX backend with keras.distribution.DataParallel.
Verify:
    Two workers on one machine get through the first step.
Unless:
    Only one worker is ever started: then MirroredStrategy is the one to use. Scripts that use Keras as tf.keras are not
    reported: which Keras that is depends on TensorFlow's version.
Example:
    bad:
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile(loss="mse")
        model.fit(dataset)
    good:
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
        for batch in strategy.experimental_distribute_dataset(dataset):
            strategy.run(train_step, args=(batch,))
References:
    https://github.com/keras-team/keras/issues/20585
    https://www.tensorflow.org/tutorials/distribute/multi_worker_with_ctl
"""

from collections.abc import Iterator

from gpucheck.lint.models import keras_3, scope_of, standalone_keras, trainings
from gpucheck.lint.script import Finding, Script, at
from gpucheck.lint.values import Call
from gpucheck.model import Severity

SEVERITY = Severity.ERROR
WORDS = ("MultiWorkerMirroredStrategy",)
STRATEGY = "tensorflow.distribute.MultiWorkerMirroredStrategy"


def check(script: Script) -> Iterator[Finding]:
    """The model certainly stands in such a strategy's scope, and the file imports Keras itself or uses what only 3 has."""
    if not (standalone_keras(script) or keras_3(script)):
        return
    for call, models in trainings(script):
        around = [scope for model in models for context in model.place.contexts for scope in scope_of(context) or []]
        if around and all(isinstance(one, Call) and one.name == STRATEGY for one in around):
            yield at(
                call.node,
                "fit of Keras 3 does not train under MultiWorkerMirroredStrategy.",
                "Write the loop with strategy.run, or run it on Keras 2: install tf_keras and set TF_USE_LEGACY_KERAS=1.",
            )
