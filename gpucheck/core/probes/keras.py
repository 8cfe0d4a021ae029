"""Keras as the child that trains finds it: version, backend, and where the choice of backend came from."""

import msgspec
from msgspec.structs import replace

from gpucheck.core.child.messages.frameworks import KerasImported
from gpucheck.core.compat import keras as tables
from gpucheck.core.engine.plugin import probe
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.processes import frameworks


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
    other = frameworks.other_backend(host)
    framework = frameworks.backend_child(host) if other else frameworks.tensorflow_child(host)
    answer = framework.wait_for(KerasImported)
    if answer is not None:
        imported = msgspec.convert(answer, Keras, from_attributes=True)
        return imported if host.request.backend is None else replace(imported, backend_source="--backend")
    ending = framework.end()
    stage = f" in the stage {ending.stage}" if ending.stage else ""
    return Keras(imported=None, error=f"not reached: {tables.TITLES[other or 'tensorflow']}'s process {ending.how}{stage}")
