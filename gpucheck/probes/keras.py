"""Keras as the framework child finds it: version, backend, and where the choice of backend came from."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe
from gpucheck.probes._framework import child


class Keras(Fact, frozen=True, kw_only=True):
    """What ``import keras`` led to in the process that imported TensorFlow."""

    imported: bool | None = None
    error_type: str | None = None
    error: str | None = None
    version: str | None = None
    backend: str | None = None  # "tensorflow", "jax", "torch"
    backend_source: str | None = None  # "KERAS_BACKEND", the path of keras.json, or "default"
    legacy: bool | None = None  # tf.keras is Keras 2 (tf_keras, or Keras 2 itself)


@probe(level=Level.DEFAULT)
def read(host: Host) -> Keras:
    """Wait for the framework child's account of Keras."""
    framework = child(host)
    answer = framework.until("keras")
    if answer is not None:
        return Keras(**answer)
    return Keras(imported=None, error=f"not reached: TensorFlow's process {framework.end().how}")
