"""The data for a TPU may end in a smaller batch: NumPy arrays, or a dataset that is batched without drop_remainder.

Symptom:
    - InvalidArgumentError: Compilation failure: Dynamic shape
    - ValueError: Expected static shape, got (None, ...)
    - The last step of every epoch takes minutes: it is compiled again.
Cause:
    XLA compiles a program for fixed shapes. Without drop_remainder=True, the first dimension of a batch is unknown, and the last
    batch of an epoch is smaller than the others. Keras turns NumPy arrays into such a dataset.
Fix:
    1. dataset.batch(batch_size, drop_remainder=True)
    2. Instead of NumPy arrays: tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)
    3. Or repeat() before batch(), and pass steps_per_epoch to fit.
Verify:
    dataset.element_spec shows a number, not None, as the first dimension.
Unless:
    The number of examples is a multiple of the batch size, and the dataset's shape is set in another way. NumPy arrays are
    reported only if their number is known. Scripts that use another strategy if no TPU is found are not reported.
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
from gpucheck.commands.lint.lookup import all_calls, constant, is_call, is_none, options
from gpucheck.commands.lint.models import TPU, on_tpu
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call, Element, Items, Operation, Value

SAMPLES = {"mnist": 60_000, "fashion_mnist": 60_000, "cifar10": 50_000, "cifar100": 50_000}  # for training
SAME_SHAPE = "but a TPU needs the same shape in every step."
# Their first argument is the shape, or its first dimension.
OF_SHAPE = ("numpy.zeros", "numpy.ones", "numpy.random.random", "numpy.random.sample", "numpy.random.rand", "numpy.random.randn")


@rule(severity="warning", words=("TPUStrategy",))
def check(script: Script) -> Findings:
    """Report datasets passed to fit of a model in a TPU strategy's scope, or distributed by a TPU strategy."""
    for call, models in script.trainings:
        if on_tpu(models) and "steps_per_epoch" not in call.keywords and not call.starred:
            yield from _partial(script, call.argument("x", 0))
            yield from _arrays(call)
    for call in script.methods("experimental_distribute_dataset"):
        if all_calls(options(call.receiver), TPU):
            yield from _partial(script, call.argument("dataset", 0))


def _arrays(call: Call) -> Findings:
    samples = _samples(call.argument("x", 0))
    split, size = call.argument("validation_split"), call.argument("batch_size", 2)
    share = 0 if split is None or "validation_data" in call.keywords else constant(split)
    batch = 32 if is_none(size) else constant(size)  # 32: by default
    if samples is None or not isinstance(share, (int, float)) or not isinstance(batch, int) or batch < 1:
        return
    trained = int(samples * (1 - share))
    rest = trained % batch
    if rest and trained > batch:
        message = f"The last batch of these arrays has {rest} of {batch} samples, {SAME_SHAPE}"
        yield at(call.node, message, "Pass a tf.data.Dataset that is batched with drop_remainder=True.")


def _samples(value: Value | None) -> int | None:
    """Return the number of samples in a value that is definitely a NumPy array; None if it is unknown."""
    found: object = None
    if isinstance(value, Operation):  # arithmetic with a number: the key of a slice is none, and a comprehension has one part
        arrays = [part for part in value.parts if not isinstance(constant(part), (int, float))]
        found = _samples(arrays[0]) if len(arrays) == 1 and len(value.parts) == 2 else None
    elif isinstance(value, Element) and value.index == 0 and isinstance(value.of, Element) and value.of.index == 0:
        path = value.of.of.name.split(".") if isinstance(value.of.of, Call) else []
        found = SAMPLES.get(path[2]) if path[:2] == ["keras", "datasets"] and path[3:] == ["load_data"] else None
    elif isinstance(value, Call) and value.method in ("astype", "copy"):
        found = _samples(value.receiver)
    elif isinstance(value, Call) and value.method == "reshape" and value.args:
        found = _first(value.args[0]) if _samples(value.receiver) is not None else None
    elif is_call(value, "numpy.array", "numpy.asarray"):
        found = _samples(value.argument("a", 0) or value.argument("object", 0))
    elif is_call(value, "numpy.expand_dims"):
        found = _samples(value.argument("a", 0)) if constant(value.argument("axis", 1)) not in (None, 0) else None
    elif is_call(value, *OF_SHAPE) and value.args:
        found = _first(value.args[0])
    return found if isinstance(found, int) and found > 0 else None


def _first(shape: Value) -> object:
    """Return the first dimension of a shape, if it is a constant."""
    return constant(shape.items[0] if isinstance(shape, Items) and shape.items else shape)


def _partial(script: Script, dataset: Value | None) -> Findings:
    pipelines = chains(dataset)
    if pipelines and all(map(_unsure, pipelines)) and pipelines[0].batch is not None:
        batch = pipelines[0].batch.node
        given = pipelines[0].batch.argument("drop_remainder", 1) is not None
        edit = None if given else insert_argument(script, batch, "drop_remainder=True")
        yield at(batch, f"The last batch may be smaller than the others, {SAME_SHAPE}", "Add drop_remainder=True.", edit)


def _unsure(chain: Chain) -> bool:
    batch = chain.batch
    if batch is None or batch.method != "batch" or batch.starred or chain.has("repeat", "take", "with_options"):
        return False
    drops = batch.argument("drop_remainder", 1)
    return drops is None or constant(drops) is False
