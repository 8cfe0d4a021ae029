"""The data for a TPU may end in a smaller batch: NumPy arrays, or a dataset that is batched without drop_remainder.

Symptom:
    - InvalidArgumentError: Compilation failure: Dynamic shape
    - ValueError: Expected static shape, got (None, ...)
    - The last step of every epoch takes minutes: it is compiled again.
Cause:
    XLA compiles a program for fixed shapes. Without drop_remainder=True the first dimension of a batch is unknown, and the last
    batch of an epoch is smaller than the others. Of NumPy arrays, Keras makes such a dataset.
Fix:
    1. dataset.batch(batch_size, drop_remainder=True)
    2. Instead of NumPy arrays: tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)
    3. Or repeat() before batch(), and pass steps_per_epoch to fit.
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
from gpucheck.commands.lint.lookup import constant, options, parts
from gpucheck.commands.lint.models import all_tpu, on_tpu, trainings
from gpucheck.commands.lint.script import Findings, Script, at
from gpucheck.commands.lint.values import Attribute, Call, Constant, Element, Operation, Value

SEVERITY = "warning"
WORDS = ("TPUStrategy",)
# Samples for training, and the methods of an array that keep them.
SAMPLES = {"mnist": 60_000, "fashion_mnist": 60_000, "cifar10": 50_000, "cifar100": 50_000, "imdb": 25_000}
METHODS = ("astype", "reshape", "copy")
BATCH_SIZE = 32  # of fit, by default


def check(script: Script) -> Findings:
    """Report datasets passed to fit of a model in a TPU strategy's scope, or distributed by a TPU strategy."""
    for call, models in trainings(script):
        if on_tpu(models) and "steps_per_epoch" not in call.keywords and not call.starred:
            yield from _partial(script, call.argument("x", 0))
            yield from _arrays(call)
    for call in script.methods("experimental_distribute_dataset"):
        if all_tpu(list(options(call.receiver))):
            yield from _partial(script, call.argument("dataset", 0))


def _arrays(call: Call) -> Findings:
    x, size = call.argument("x", 0), call.argument("batch_size", 2)
    if not _is_array(x):
        return
    batch = BATCH_SIZE if size is None else constant(size)
    loaded = {SAMPLES.get(part.name.split(".")[2]) for part in parts(x, _receiver) if isinstance(part, Call) and _loads(part)}
    if isinstance(batch, int) and any(samples and samples % max(batch, 1) == 0 for samples in loaded):
        return
    yield at(
        call.node,
        "The last batch of these arrays may be smaller than the others, but a TPU needs the same shape in every step.",
        "Pass a tf.data.Dataset that is batched with drop_remainder=True.",
    )


def _is_array(value: Value | None) -> bool:
    """Whether a value is certainly a NumPy array, or computed from one and constants."""
    if isinstance(value, Operation):
        arrays = [part for part in value.parts if not isinstance(part, Constant)]
        return bool(arrays) and all(map(_is_array, arrays))
    if isinstance(value, Element):
        return _is_array(value.of)
    if isinstance(value, Call):
        return value.name.startswith("numpy.") or _loads(value) or (value.method in METHODS and _is_array(value.receiver))
    return False


def _loads(call: Call) -> bool:
    return call.name.startswith("keras.datasets.") and call.name.endswith(".load_data")


def _receiver(value: Value) -> tuple[Value, ...]:
    return (value.receiver,) if isinstance(value, Call) and isinstance(value.function, Attribute) else ()


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
