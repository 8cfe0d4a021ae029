"""The user's own network and data for the benchmark: call MODULE:FUNCTION, and prepare the result for timing."""

from __future__ import annotations

import importlib
import os
import re
import sysconfig
import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpucheck.core.training.bench_data import Unusable

COMPUTE = {
    "float32": set(),
    "mixed_float16": {"float16"},
    "mixed_bfloat16": {"bfloat16"},
}  # compute types by dtype policy, besides float32
LEARNING_RATE = 1e-3
NOISE = (  # lines of an error message that do not give its cause
    "File ",
    "Detected at ",
    "Graph execution error",
    "The above exception",
    "Cf. ",
    "Traceback ",
    "Exception encountered when calling ",
)
PLACE = re.compile(r'File "([^"\n]+)", line (\d+)')
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")  # Keras colors its messages


class Own(NamedTuple):
    """A compiled model, and data for it."""

    model: Any
    data: Any  # a ``tf.data.Dataset`` of endless batches
    sample: Any  # a batch of one sample
    global_batch: int
    generated: bool  # the function returned no data
    first: Any  # a method of the model to run before anything is compiled


def build(tf: Any, keras: Any, name: str, precision: str, global_batch: int, default: int, replicas: int) -> Own:
    """Call the user's function within the open scope of a strategy.

    Args:
        tf: TensorFlow.
        keras: the module to build with.
        name: "MODULE:FUNCTION".
        precision: the current dtype policy.
        global_batch: samples per step; 0: the batch size of the data.
        default: samples per step if ``global_batch`` is 0 and the data is not batched.
        replicas: number of replicas that share a batch.

    Raises:
        Unusable: the model or data can't be trained as requested.
        Exception: raised by the user's function.
    """
    model, given = _returned(keras, name)
    batches = isinstance(given, tf.data.Dataset)
    data = given if batches else _dataset(tf, name, model, given, global_batch or default)
    first = next(iter(data.take(1)), None)
    if first is None:
        raise Unusable(f"{name}: its data is empty")
    if batches and _has_batches(tf, model, data):
        sample = tf.nest.map_structure(lambda tensor: tensor[:1], first)
        size = global_batch or int(tf.nest.flatten(first)[0].shape[0])
        data = data.repeat()
        if {spec.shape[0] for spec in tf.nest.flatten(data.element_spec)} != {size}:  # a different size, or a smaller last batch
            data = data.rebatch(size, True) if hasattr(data, "rebatch") else data.unbatch().batch(size, True)
            options = tf.data.Options()  # one process needs no sharding, and sharding ignores the new size
            options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
            data = data.with_options(options)
    else:
        sample = tf.nest.map_structure(lambda tensor: tf.expand_dims(tensor, 0), first)
        size = global_batch or default
        data = data.repeat().batch(size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    if size % replicas:
        raise Unusable(f"{name}: its batches of {size} samples can't be divided among {replicas} replicas; give --batch-size")
    if getattr(model, "optimizer", None) is None:
        _compile(tf, keras, name, model, sample)
    computed = {layer.compute_dtype for layer in _layers(model)} & {"float16", "bfloat16", "float64"}
    if computed != COMPUTE[precision]:
        kinds = " and ".join(sorted(computed)) or "float32"
        raise Unusable(f"{name}: its layers compute in {kinds}, but --precision is {precision}")
    own_step = type(model).train_step is not keras.Model.train_step and type(model).test_step is keras.Model.test_step
    return Own(model, data, sample, size, given is None, model.train_step if own_step else model.test_step)


def _returned(keras: Any, name: str) -> tuple[Any, Any]:
    """Return the function's model, and its data or None."""
    module, _, function = name.partition(":")
    loaded = importlib.import_module(module)
    made = getattr(loaded, function, None)
    if not callable(made):
        raise Unusable(f"{getattr(loaded, '__file__', module)} has no function {function}")
    result = made()
    model, data = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    if not isinstance(model, keras.Model):
        raise Unusable(f"{name} returned {_kind(result)}; expected a keras.Model, or (model, data)")
    return model, data


def _dataset(tf: Any, name: str, model: Any, data: Any, count: int) -> Any:
    """Return a dataset of samples: from the returned arrays, or generated if there are none."""
    if data is None:
        data = _generated(tf, name, model, count)
    elif not isinstance(data, (tuple, list)) or len(data) != 2:
        raise Unusable(f"{name} returned {_kind(data)} as data; expected a tf.data.Dataset or arrays (x, y)")
    return tf.data.Dataset.from_tensor_slices(tuple(data))


def _generated(tf: Any, name: str, model: Any, count: int) -> tuple[Any, Any]:
    """Return random samples for a model with one input and one output of known shapes."""
    import numpy as np

    inputs, outputs = getattr(model, "inputs", None) or [], getattr(model, "outputs", None) or []
    shapes = [tuple(tensor.shape[1:]) for tensor in (*inputs, *outputs)]
    if (len(inputs), len(outputs)) != (1, 1) or any(size is None for shape in shapes for size in shape):
        raise Unusable(f"{name}: without data, a model needs one input and one output of fixed shapes; return (model, data)")
    if not tf.as_dtype(inputs[0].dtype).is_floating:
        raise Unusable(f"{name}: its input holds {inputs[0].dtype}, whose range is unknown; return (model, data)")
    random = np.random.default_rng(0)
    images = random.standard_normal((count, *shapes[0]), dtype="float32")
    loss = getattr(model, "loss", None)
    if "sparse" in str(getattr(loss, "name", None) or getattr(loss, "__name__", loss)):
        return images, random.integers(0, shapes[1][-1], (count, *shapes[1][:-1])).astype("int32")
    return images, random.random((count, *shapes[1]), dtype="float32")


def _has_batches(tf: Any, model: Any, data: Any) -> bool:
    """Whether the elements of a dataset are batches; samples have one dimension less than the model's inputs."""
    spec = data.element_spec[0] if isinstance(data.element_spec, tuple) else data.element_spec
    given = sorted(part.shape.rank or 0 for part in tf.nest.flatten(spec))
    return given != sorted(len(tensor.shape) - 1 for tensor in getattr(model, "inputs", None) or [])


def _compile(tf: Any, keras: Any, name: str, model: Any, sample: Any) -> None:
    """Compile a model for classification or regression, depending on its output and labels."""
    if not isinstance(sample, tuple) or len(sample) != 2:
        raise Unusable(f"{name}: a model without data (x, y) must be compiled")
    outputs = model(sample[0])
    if not tf.is_tensor(outputs):
        raise Unusable(f"{name}: a model with several outputs must be compiled")
    labels, classes = sample[1], outputs.shape[-1]
    sparse = labels.dtype.is_integer and classes > 1 and labels.shape[1:].num_elements() == outputs.shape[1:-1].num_elements()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True) if sparse else "mean_squared_error"
    model.compile(optimizer=keras.optimizers.Adam(LEARNING_RATE), loss=loss)


def _layers(model: Any) -> Iterator[Any]:
    for layer in getattr(model, "layers", ()):
        yield layer
        yield from _layers(layer)


def _kind(value: Any) -> str:
    names = [type(part).__name__ for part in value] if isinstance(value, tuple) else []
    return f"({', '.join(names)})" if names else type(value).__name__


def failure(error: BaseException) -> str:
    """Return an exception on one line, with the innermost line of the user's code if there is one."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    places += [(file, int(line)) for file, line in PLACE.findall(str(error))]  # AutoGraph's calls are only in the message
    own = [(file, line) for file, line in places if _is_user_file(file)]
    where = f" ({os.path.relpath(own[-1][0])}, line {own[-1][1]})" if own and not isinstance(error, SyntaxError) else ""
    kind, text = f"{type(error).__name__}: ", sentence(error)
    return f"{'' if text.startswith(kind) else kind}{text}{where}"  # AutoGraph's message already begins with the type


def _is_user_file(file: str) -> bool:
    """Whether a file belongs to the user: neither to Python, nor to a package, nor to gpucheck."""
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    made = file.startswith("<") or os.path.basename(file).startswith("__autograph_generated_file")
    installed = {"site-packages", "dist-packages"} & set(file.split(os.sep))
    return not made and not installed and not file.startswith((ours + os.sep, sysconfig.get_paths()["stdlib"] + os.sep))


def sentence(error: BaseException) -> str:
    """Return the message of an error of TensorFlow or Keras without the stack trace before it."""
    text = ESCAPES.sub("", str(error))
    if text.startswith("in user code:"):  # AutoGraph's message: the error follows the last indented line of code
        text = text.rstrip().rpartition("\n\n")[2] if "\n\n" in text.rstrip() else text
    text = text.rpartition("Error encountered:")[2]  # Keras' message after it called a layer to find its shape
    lines = [line.strip() for line in text.splitlines()]
    return " ".join([line for line in lines if line and not line.startswith(NOISE)][:2])[:400]
