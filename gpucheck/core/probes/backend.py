"""The backend of Keras, and for JAX or PyTorch its build and devices, from a child that imports only that framework."""

import msgspec
from msgspec.structs import replace

from gpucheck.core.child.messages.frameworks import BackendImport, BackendImported, Device
from gpucheck.core.compat import keras
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import _frameworks as frameworks


class Backend(BackendImport, Fact, frozen=True, kw_only=True):
    """The backend that this run tests. If it is TensorFlow, the probe ``tensorflow`` reports the rest."""

    devices: tuple[Device, ...] | None = None  # accelerators first; None: the listing was not reached
    problem: str | None = None  # why no accelerator is listed: the framework's message
    ending: str | None = None  # how the child ended if it did not get this far: "timed out", "killed by SIGSEGV"

    @property
    def lists_gpu(self) -> bool:
        """Whether it listed a GPU, which proves that the libraries needed for that load."""
        return any(device.kind == "GPU" for device in self.devices or ())

    @property
    def other(self) -> bool:
        """Whether Keras trains on JAX or PyTorch."""
        return self.name in keras.OTHERS

    @property
    def title(self) -> str:
        """'JAX 0.10.2'."""
        return f"{keras.TITLES[self.name]} {self.version or ''}".rstrip()


@probe(level=Level.DEFAULT)
def read(host: Host) -> Backend:
    """Wait until the child reports the import and the devices; TensorFlow needs no second child."""
    chosen = frameworks.backend(host)
    if frameworks.other_backend(host) is None:
        return Backend(name=chosen.name, source=chosen.source)
    child = frameworks.backend_child(host)
    imported = child.wait_for(BackendImported)
    if imported is None:
        return Backend(name=chosen.name, source=chosen.source, ending=child.end().how, **frameworks.not_imported(child))
    outcome = msgspec.convert(imported.outcome, Backend, from_attributes=True)
    if not outcome.imported:
        return outcome
    listed = frameworks.devices_listed(host, child)
    if listed is None:
        return replace(outcome, ending=child.end().how)
    return replace(outcome, devices=listed.devices, problem=listed.problem)
