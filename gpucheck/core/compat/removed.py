"""Parts of TensorFlow and Keras that no longer exist, and the page of ``gpucheck lint`` that explains each.

Lint looks for these names in a program; a log contains them in the exception that their use raises.
Sources: https://www.tensorflow.org/guide/migrate, https://keras.io/guides/migrating_to_keras_3/,
https://www.tensorflow.org/api_docs/python/tf/config/PhysicalDevice
"""

import re
from typing import NamedTuple

SESSION, API = "legacy-session", "legacy-api"
MULTI_GPU, GENERATOR, LIMIT = "multi-gpu-model-removed", "fit-generator-removed", "memory-limit-misused"
PAGES = (SESSION, API, MULTI_GPU, GENERATOR, LIMIT)

# Canonical names (``commands/lint/names.py``), and what a program calls them.
SESSIONS = {
    "tensorflow.Session": "tf.Session",
    "tensorflow.InteractiveSession": "tf.InteractiveSession",
    "tensorflow.ConfigProto": "tf.ConfigProto",
    "tensorflow.GPUOptions": "tf.GPUOptions",
    "keras.backend.set_session": "keras.backend.set_session",
    "keras.backend.tensorflow_backend.set_session": "keras.backend.set_session",
    "keras.backend.get_session": "keras.backend.get_session",
    "keras.backend.tensorflow_backend.get_session": "keras.backend.get_session",
}
MULTI_GPU_MODEL = re.compile(r"keras\.utils\.(\w+\.)?multi_gpu_model")
GENERATOR_METHODS = ("fit_generator", "evaluate_generator", "predict_generator")
MEMORY_LIMIT = "memory_limit"  # of a PhysicalDevice, which never had it

# Functions of TensorFlow 1, and what TensorFlow 2 has instead; of those without a successor it has tf.compat.v1.NAME.
_SUCCESSORS = {
    "GraphDef": "",
    "Print": "tf.print",
    "Summary": "tf.summary",
    "assign_add": "variable.assign_add",
    "enable_eager_execution": "nothing: TensorFlow 2 runs eagerly",
    "get_collection": "",
    "get_default_graph": "",
    "get_default_session": "",
    "get_variable": "tf.Variable",
    "global_variables": "model.variables",
    "global_variables_initializer": "nothing: variables are initialized when they are created",
    "initialize_all_variables": "nothing: variables are initialized when they are created",
    "local_variables_initializer": "nothing: variables are initialized when they are created",
    "log": "tf.math.log",
    "placeholder": "the argument of a tf.function, or keras.Input",
    "placeholder_with_default": "the argument of a tf.function, or keras.Input",
    "random_normal": "tf.random.normal",
    "random_uniform": "tf.random.uniform",
    "reset_default_graph": "keras.backend.clear_session()",
    "set_random_seed": "tf.random.set_seed",
    "sparse_placeholder": "keras.Input(sparse=True)",
    "tables_initializer": "nothing: tables are initialized when they are created",
    "to_float": "tf.cast(x, tf.float32)",
    "to_int32": "tf.cast(x, tf.int32)",
    "trainable_variables": "model.trainable_variables",
    "truncated_normal": "tf.random.truncated_normal",
    "variable_scope": "",
    "image.resize_images": "tf.image.resize",
    "train.AdadeltaOptimizer": "keras.optimizers.Adadelta",
    "train.AdagradOptimizer": "keras.optimizers.Adagrad",
    "train.AdamOptimizer": "keras.optimizers.Adam",
    "train.FtrlOptimizer": "keras.optimizers.Ftrl",
    "train.GradientDescentOptimizer": "keras.optimizers.SGD",
    "train.MomentumOptimizer": "keras.optimizers.SGD(momentum=0.9)",
    "train.MonitoredSession": "model.fit",
    "train.MonitoredTrainingSession": "model.fit, with keras.callbacks",
    "train.Optimizer": "keras.optimizers.Optimizer",
    "train.RMSPropOptimizer": "keras.optimizers.RMSprop",
    "train.Saver": "tf.train.Checkpoint, or model.save",
    "train.SyncReplicasOptimizer": "tf.distribute.MirroredStrategy",
    "train.cosine_decay": "keras.optimizers.schedules.CosineDecay",
    "train.exponential_decay": "keras.optimizers.schedules.ExponentialDecay",
    "train.get_or_create_global_step": "optimizer.iterations",
    "train.piecewise_constant": "keras.optimizers.schedules.PiecewiseConstantDecay",
    "train.polynomial_decay": "keras.optimizers.schedules.PolynomialDecay",
    "train.start_queue_runners": "tf.data",
}
FUNCTIONS = {f"tensorflow.{name}": new or f"tf.compat.v1.{name}" for name, new in _SUCCESSORS.items()}
MODULES = {
    "app": "a call of your main function, or absl.app",
    "app.flags": "argparse, or absl.flags",
    "contrib": "the package that took this part over, or tf_keras: most of tf.contrib has no successor",
    "estimator": "a Keras model and fit",
    "flags": "argparse, or absl.flags",
    "gfile": "tf.io.gfile",
    "layers": "keras.layers",
    "logging": "Python's logging, or absl.logging",
}
ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator")  # methods of a dataset


# Names of JAX, and their replacements (https://docs.jax.dev/en/latest/changelog.html).
JAX = {
    "abstract_arrays": "jax.core",
    "config": "from jax import config",
    "config.config": "jax.config",
    "experimental.global_device_array": "jax.Array",
    "experimental.host_callback": "jax.experimental.io_callback",
    "experimental.maps": "jax.sharding.Mesh and jax.shard_map",
    "experimental.optimizers": "optax, or jax.example_libraries.optimizers",
    "experimental.pjit.PartitionSpec": "jax.sharding.PartitionSpec",
    "experimental.stax": "jax.example_libraries.stax",
    "interpreters.xla.DeviceArray": "jax.Array",
    "lib.xla_bridge": "jax.extend.backend",
    "linear_util": "jax.extend.linear_util",
    "numpy.DeviceArray": "jax.Array",
    "numpy.in1d": "jax.numpy.isin",
    "numpy.row_stack": "jax.numpy.vstack",
    "numpy.trapz": "jax.scipy.integrate.trapezoid",
    "ops.index_update": "x.at[index].set(y)",
    "ops.index_add": "x.at[index].add(y)",
    "random.KeyArray": "jax.Array",
    "tree_leaves": "jax.tree.leaves",
    "tree_map": "jax.tree.map",
    "tree_multimap": "jax.tree.map",
    "tree_structure": "jax.tree.structure",
    "tree_util.tree_multimap": "jax.tree.map",
    "xla_computation": "jax.jit(f).lower(x)",
}


# Names of Keras 2, and where they are in Keras 3 (https://keras.io/api/).
KERAS = {
    "keras.engine.topology.Layer": "keras.layers.Layer",
    "keras.engine.Layer": "keras.layers.Layer",
    "keras.layers.experimental.preprocessing": "keras.layers",
    "keras.layers.experimental": "keras.layers",
    "keras.layers.CuDNNGRU": "keras.layers.GRU",
    "keras.layers.CuDNNLSTM": "keras.layers.LSTM",
    "keras.layers.advanced_activations": "keras.layers",
    "keras.layers.core": "keras.layers",
    "keras.layers.convolutional": "keras.layers",
    "keras.layers.embeddings": "keras.layers",
    "keras.layers.merge": "keras.layers",
    "keras.layers.normalization": "keras.layers",
    "keras.layers.recurrent": "keras.layers",
    "keras.layers.wrappers": "keras.layers",
    "keras.mixed_precision.set_policy": "keras.mixed_precision.set_global_policy",
    "keras.optimizers.adam": "keras.optimizers.Adam",
    "keras.preprocessing.image.ImageDataGenerator": "keras.utils.image_dataset_from_directory, with augmentation layers",
    "keras.preprocessing.image.img_to_array": "keras.utils.img_to_array",
    "keras.preprocessing.image.load_img": "keras.utils.load_img",
    "keras.preprocessing.sequence.pad_sequences": "keras.utils.pad_sequences",
    "keras.preprocessing.text": "keras.layers.TextVectorization",
    "keras.utils.np_utils": "keras.utils",
    "keras.utils.np_utils.to_categorical": "keras.utils.to_categorical",
    "keras.utils.generic_utils": "keras.saving (custom objects), keras.utils",
    "keras.utils.Sequence": "keras.utils.PyDataset",
    "keras.utils.vis_utils": "keras.utils.plot_model",
    "keras.wrappers.scikit_learn": "scikeras.wrappers, of the package scikeras",
    "keras.wrappers": "scikeras.wrappers, of the package scikeras",
}
# Those that Keras 3 has.
_KEPT = (
    "keras.preprocessing.image.img_to_array",
    "keras.preprocessing.image.load_img",
    "keras.preprocessing.sequence.pad_sequences",
    "keras.utils.Sequence",
    "keras.wrappers",
)
KERAS_GONE = {name: new for name, new in KERAS.items() if name not in _KEPT}
# Those that every Keras 2 had.
KERAS_2 = ("keras.optimizers.adam", "keras.preprocessing.image.ImageDataGenerator", "keras.preprocessing.text")
# Those that later releases of Keras 2 had, up to TensorFlow 2.12 or 2.15.
LATER_KERAS_2 = (
    *("keras.layers.experimental", "keras.layers.experimental.preprocessing", "keras.wrappers.scikit_learn"),
    "keras.mixed_precision.set_policy",
)
TF_KERAS = KERAS_2[1:]  # tf.keras still has them
_OPTIMIZERS = re.compile(r"Adam|AdamW|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam|Ftrl|Lion|LossScaleOptimizer")
# Methods of models and optimizers that Keras removed.
MODEL_METHODS = {
    "predict_classes": "model.predict(x).argmax(axis=-1), or (model.predict(x) > 0.5) for a sigmoid",
    "predict_proba": "model.predict(x)",
}
_METHODS = MODEL_METHODS | {"get_updates": "tf.GradientTape and optimizer.apply_gradients"}
# Arguments of fit in Keras 1 and 2, and those of today; empty: it has none.
FIT_ARGUMENTS = {
    "nb_epoch": "epochs",
    "samples_per_epoch": "steps_per_epoch, which counts batches",
    "nb_val_samples": "validation_steps, which counts batches",
    "max_q_size": "",
    "nb_worker": "",
    "max_queue_size": "",
    "use_multiprocessing": "",
    "workers": "",
}


class Removed(NamedTuple):
    """A removed API."""

    name: str  # as programs write it: "tf.Session"
    page: str  # the code of its page
    why: str  # its removal: "TensorFlow 2 removed"
    instead: str = ""  # what to use instead; empty: see its page


# Names of modules in messages differ from those in programs: tensorflow._api.v2.train, keras._tf_keras.keras.utils.
_FOLDERS = re.compile(r"\b(?:_api\.v[12]|api\._v2\.keras|_tf_keras\.keras|api|src|python)\.")
_KERAS = re.compile(r"^(?:tensorflow(?:_core)?\.)?(?:tf_)?keras(?=\.)")
_BACKEND = re.compile(r"keras\.backend\.[a-z]\w*$")
_OLD_NAME = re.compile(r"^tensorflow_core(?=\.)")


def attribute(owner: str, name: str) -> Removed | None:
    """Return the missing attribute of a module or class, from an exception, if it was removed.

    ``attribute("tensorflow._api.v2.train", "AdamOptimizer")`` -> ``Removed("tf.train.AdamOptimizer", "legacy-api", ...)``.
    """
    path = _OLD_NAME.sub("tensorflow", _KERAS.sub("keras", _FOLDERS.sub("", f"{owner}.{name}")))
    if path.startswith("jax."):
        name, found = path, JAX.get(path.removeprefix("jax.")) or JAX.get(owner.removeprefix("jax."))
        return Removed(name, API, "JAX removed", found) if found else None
    if MULTI_GPU_MODEL.fullmatch(path):
        return Removed("multi_gpu_model", MULTI_GPU, "TensorFlow and Keras removed in 2020")
    if path in SESSIONS:
        return Removed(SESSIONS[path], SESSION, f"{'Keras 3' if path.startswith('keras') else 'TensorFlow 2'} removed")
    if _BACKEND.match(path) and ".src." not in owner:  # inside Keras, a module of another release
        return Removed(path, API, "Keras 3 removed", f"keras.ops (keras.ops.{name}, if it is a function of arrays)")
    if path in KERAS and ".src." not in owner:
        return Removed(path, API, "Keras 3 removed or moved", KERAS[path])
    folder, _, rest = path.partition(".")
    instead = FUNCTIONS.get(path) or MODULES.get(rest.partition(".")[0])
    if folder == "tensorflow" and instead:
        return Removed(f"tf.{rest}", API, "TensorFlow 2 removed", instead)
    return None if "." in owner else _method(owner, name)


def _method(owner: str, name: str) -> Removed | None:
    if name == "lr" and _OPTIMIZERS.fullmatch(owner):
        return Removed("optimizer.lr", API, "Keras 3 removed", "optimizer.learning_rate")
    if name in GENERATOR_METHODS:
        return Removed(name, GENERATOR, "Keras 3 removed")
    if name in _METHODS:
        return Removed(name, API, "Keras removed", _METHODS[name])
    if name in ITERATORS:
        return Removed(name, API, "TensorFlow 2 removed", "for element in dataset")
    if (owner, name) == ("PhysicalDevice", MEMORY_LIMIT):
        return Removed("gpu.memory_limit", LIMIT, "TensorFlow's devices do not have")
    return None
