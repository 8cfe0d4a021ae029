"""A dataset for a TPU may end in a smaller batch, because it is batched without drop_remainder.

Symptom:
    - InvalidArgumentError: Compilation failure: Dynamic shape
    - ValueError: Expected static shape, got (None, ...)
    - The last step of every epoch takes minutes: it is compiled again.
Cause:
    XLA compiles a program for fixed shapes. Without drop_remainder=True the first dimension of a batch is unknown, and the last
    batch of an epoch is smaller than the others.
Fix:
    1. dataset.batch(batch_size, drop_remainder=True)
    2. Or repeat() before batch(), and pass steps_per_epoch to fit.
Verify:
    dataset.element_spec shows a number, not None, as the first dimension.
Unless:
    The number of examples is a multiple of the batch size, and the dataset's shape is set in another way. Scripts that
    use another strategy if no TPU is found are not reported.
Example:
    bad:
        import tensorflow as tf
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
        strategy = tf.distribute.TPUStrategy(resolver)
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(1024)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
        model.fit(dataset)
    good:
        import tensorflow as tf
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
        strategy = tf.distribute.TPUStrategy(resolver)
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(1024, drop_remainder=True)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
        model.fit(dataset)
References:
    https://www.tensorflow.org/guide/tpu
    https://docs.cloud.google.com/tpu/docs/intro-to-tpu
"""

from gpucheck.commands.lint.datasets import Chain, chains
from gpucheck.commands.lint.edits import insert_argument
from gpucheck.commands.lint.lookup import constant, options
from gpucheck.commands.lint.models import all_tpu, on_tpu, trainings
from gpucheck.commands.lint.script import Findings, Script, at
from gpucheck.commands.lint.values import Value

SEVERITY = "warning"
WORDS = ("TPUStrategy",)


def check(script: Script) -> Findings:
    """Report datasets passed to fit of a model in a TPU strategy's scope, or distributed by a TPU strategy."""
    for call, models in trainings(script):
        if on_tpu(models) and "steps_per_epoch" not in call.keywords and not call.starred:
            yield from _partial(script, call.argument("x", 0))
    for call in script.methods("experimental_distribute_dataset"):
        if all_tpu(list(options(call.receiver))):
            yield from _partial(script, call.argument("dataset", 0))


def _partial(script: Script, dataset: Value | None) -> Findings:
    pipelines = chains(dataset)
    if pipelines and all(map(_unsure, pipelines)) and pipelines[0].batch is not None:
        yield at(
            pipelines[0].batch.node,
            "The last batch may be smaller than the others, but a TPU needs the same shape in every step.",
            "Add drop_remainder=True.",
            insert_argument(script, pipelines[0].batch.node, "drop_remainder=True"),
        )


def _unsure(chain: Chain) -> bool:
    batch = chain.batch
    if batch is None or batch.method != "batch" or batch.starred or chain.has("repeat", "take", "with_options"):
        return False
    drops = batch.argument("drop_remainder", 1)
    return drops is None or constant(drops) is False
