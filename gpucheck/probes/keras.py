"""Keras as the child that trains finds it: version, backend, and where the choice of backend came from."""

from gpucheck.compat import keras as tables
from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe
from gpucheck.probes import _framework


class Keras(Fact, frozen=True, kw_only=True):
    """What ``import keras`` led to in the process that trains."""

    imported: bool | None = None
    error_type: str | None = None
    error: str | None = None
    version: str | None = None
    backend: str | None = None  # "tensorflow", "jax", "torch"
    backend_source: str | None = None  # "--backend", "KERAS_BACKEND", the path of keras.json, or "default"
    legacy: bool | None = None  # tf.keras is Keras 2 (tf_keras, or Keras 2 itself)


@probe(level=Level.DEFAULT)
def read(host: Host) -> Keras:
    """Wait for the account of Keras by the child that trains."""
    framework = _framework.trainer(host)
    answer = framework.until("keras")
    if answer is not None:
        source = answer["backend_source"] if host.request.backend is None else "--backend"
        return Keras(**{**answer, "backend_source": source})
    title = tables.TITLES[_framework.elsewhere(host) or "tensorflow"]
    return Keras(imported=None, error=f"not reached: {title}'s process {framework.end().how}")
