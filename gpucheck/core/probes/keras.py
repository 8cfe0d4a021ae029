"""Keras in the training child: version, backend, and where the backend was configured."""

import msgspec
from msgspec.structs import replace

from gpucheck.core.child.messages.frameworks import KerasImport, KerasImported
from gpucheck.core.compat import keras as tables
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import _frameworks as frameworks


class Keras(KerasImport, Fact, frozen=True, kw_only=True):
    """The result of ``import keras`` in the training process."""


@probe(level=Level.DEFAULT)
def read(host: Host) -> Keras:
    """Wait until the training child reports Keras."""
    other = frameworks.other_backend(host)
    framework = frameworks.backend_child(host) if other else frameworks.tensorflow_child(host)
    answer = framework.wait_for(KerasImported)
    if answer is not None:
        imported = msgspec.convert(answer.outcome, Keras, from_attributes=True)
        return imported if host.request.backend is None else replace(imported, backend_source="--backend")
    ending = framework.end()
    stage = f" in the stage {ending.stage}" if ending.stage else ""
    return Keras(imported=None, error=f"not reached: {tables.TITLES[other or 'tensorflow']}'s process {ending.how}{stage}")
