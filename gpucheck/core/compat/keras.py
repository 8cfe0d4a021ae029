"""Keras: its backends, and the Keras and tf_keras versions for each TensorFlow.

Sources: METADATA of the tensorflow and tf_keras wheels on PyPI; keras-team/keras keras/src/backend/config.py
(backends); tensorflow/python/util/lazy_loader.py in the TensorFlow 2.21.0 wheel (TF_USE_LEGACY_KERAS).
"""

from gpucheck.core.compat import tensorflow, versions

BACKENDS = ("tensorflow", "jax", "torch", "numpy", "openvino")  # the first is the default
TRAINING_BACKENDS = ("tensorflow", "jax", "torch")  # the others have no fit()
OTHERS = TRAINING_BACKENDS[1:]

TITLES = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}
PACKAGES = {"jax": ("jax", "jaxlib"), "torch": ("torch",)}  # packages that the backend requires

# TF_USE_LEGACY_KERAS is compared as text: 'TRUE', 'yes' and '2' are ignored.
LEGACY_VALUES = ("true", "True", "1")

FIRST_TENSORFLOW_WITH_KERAS_3 = "2.16"


def needs(tensorflow_minor: str) -> str | None:
    """Return the Keras that a TensorFlow release requires: '2.21' -> '>=3.12.0'; None for an unknown release."""
    release = tensorflow.release(tensorflow_minor)
    return release.keras if release else None


def tf_keras_matches(tf_keras_version: str, tensorflow_version: str) -> bool:
    """Whether tf_keras (Keras 2) matches: each minor requires the TensorFlow of the same minor."""
    return versions.same_minor(tf_keras_version, tensorflow_version)
