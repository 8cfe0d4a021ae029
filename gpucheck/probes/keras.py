"""Keras as the child that trains finds it: version, backend, and where the choice of backend came from."""

import msgspec

from gpucheck.compat import keras as tables
from gpucheck.engine.plugin import probe
from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.probes import _framework


class Keras(Fact, frozen=True, kw_only=True):
    """What ``import keras`` led to in the process that trains."""

    imported: bool | None = None
    error_type: str | None = None
    error: str | None = None
    shadows: dict[str, str] = msgspec.field(default_factory=dict)  # of a failed import: module -> the user's file in its place
    keras_settings: str | None = None  # of a failed import: "PATH: floatx is ...": what in keras.json Keras can't take
    version: str | None = None
    backend: str | None = None  # "tensorflow", "jax", "torch"
    backend_source: str | None = None  # "--backend", "KERAS_BACKEND", the path of keras.json, or "default"
    legacy: bool | None = None  # tf.keras is Keras 2 (tf_keras, or Keras 2 itself)


@probe(level=Level.DEFAULT)
def read(host: Host) -> Keras:
    """Wait for the account of Keras by the child that trains."""
    framework = _framework.other(host) if _framework.elsewhere(host) else _framework.child(host)
    answer = framework.until("keras")
    if answer is not None:
        source = answer["backend_source"] if host.request.backend is None else "--backend"
        return Keras(**{**answer, "backend_source": source})
    title = tables.TITLES[_framework.elsewhere(host) or "tensorflow"]
    ending = framework.end()
    stage = f" in the stage {ending.stage}" if ending.stage else ""
    return Keras(imported=None, error=f"not reached: {title}'s process {ending.how}{stage}")
