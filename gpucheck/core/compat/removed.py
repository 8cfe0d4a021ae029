"""Parts of TensorFlow and Keras that no longer exist, and the page of ``gpucheck lint`` that explains each.

Lint looks for these names in a program; a log contains them in the exception that their use raises.
Sources: https://www.tensorflow.org/guide/migrate, https://keras.io/guides/migrating_to_keras_3/,
https://www.tensorflow.org/api_docs/python/tf/config/PhysicalDevice
"""

import pkgutil
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

# Rows of removed.txt: what to use instead of a name, and which releases had it.
_ROWS = {
    name: (instead, had)
    for row in (pkgutil.get_data(__name__, "removed.txt") or b"").decode().splitlines()
    if not row.startswith("#")
    for name, instead, had in [[part.strip() for part in row.split("|")]]
}
FUNCTIONS = {
    name: instead or name.replace("tensorflow.", "tf.compat.v1.", 1)
    for name, (instead, _) in _ROWS.items()
    if name.startswith("tensorflow.")
}
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


# Names of JAX, and their replacements.
JAX = {name: instead for name, (instead, _) in _ROWS.items() if name.startswith("jax.")}


# Names of Keras 2, and where they are in Keras 3.
KERAS = {name: instead for name, (instead, _) in _ROWS.items() if name.startswith("keras.")}
KERAS_REMOVED = {name: new for name, new in KERAS.items() if _ROWS[name][1] != "kept"}
KERAS_2 = tuple(name for name in KERAS_REMOVED if _ROWS[name][1])  # those that also its later releases had
TF_KERAS = tuple(name for name in KERAS_2 if _ROWS[name][1] == "tf.keras")  # tf.keras still has them
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
_BACKEND = re.compile(r"keras\.backend\.(?!tf$)[a-z]\w*$")
_OLD_NAME = re.compile(r"^tensorflow_core(?=\.)")


def attribute(owner: str, name: str) -> Removed | None:
    """Return the missing attribute of a module or class, from an exception, if it was removed.

    ``attribute("tensorflow._api.v2.train", "AdamOptimizer")`` -> ``Removed("tf.train.AdamOptimizer", "legacy-api", ...)``.
    """
    path = _OLD_NAME.sub("tensorflow", _KERAS.sub("keras", _FOLDERS.sub("", f"{owner}.{name}")))
    if path.startswith("jax."):
        name, found = path, JAX.get(path) or JAX.get(owner)
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
