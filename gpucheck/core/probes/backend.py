"""What Keras trains on, and where that is JAX or PyTorch: its build and its devices, from a child that imports it alone."""

import msgspec

from gpucheck.core.child.messages import Shadowed
from gpucheck.core.child.messages.frameworks import DevicesListed, FrameworkImported
from gpucheck.core.compat import keras
from gpucheck.core.engine.plugin import probe
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.probes.tensorflow import Device, devices_of
from gpucheck.core.processes import frameworks


class Backend(Fact, frozen=True, kw_only=True):
    """The backend that this run proves. For TensorFlow, the probe ``tensorflow`` tells the rest."""

    name: str  # "tensorflow", "jax", "torch"; or what Keras was told and does not know
    source: str  # "--backend", "KERAS_BACKEND", the path of keras.json, or "default"
    imported: bool | None = None  # None: for TensorFlow, or if the child was stopped before it could tell
    import_seconds: float | None = None
    error_type: str | None = None  # "ModuleNotFoundError"
    error: str | None = None  # the exception's words, or how the child ended
    shadows: dict[str, str] = msgspec.field(default_factory=dict)  # of a failed import: module -> the user's file in its place
    keras_settings: str | None = None  # of a failed import: "PATH: floatx is ...": what in keras.json Keras can't take
    version: str | None = None
    path: str | None = None  # the imported package's folder
    built_with_cuda: bool | None = None
    cuda_version: str | None = None  # "12.8"
    devices: tuple[Device, ...] | None = None  # accelerators first; None: the listing was not reached
    problem: str | None = None  # why no accelerator is listed, in the framework's words
    ending: str | None = None  # how the child ended before it was done here: "timed out", "killed by SIGSEGV"

    @property
    def lists_gpu(self) -> bool:
        """Whether it listed a GPU, which proves every library that it needs for that."""
        return any(device.kind == "GPU" for device in self.devices or ())

    @property
    def other(self) -> bool:
        """Whether Keras trains on JAX or PyTorch here."""
        return self.name in keras.OTHERS

    @property
    def title(self) -> str:
        """'JAX 0.10.2'."""
        return f"{keras.TITLES[self.name]} {self.version or ''}".rstrip()


@probe(level=Level.DEFAULT)
def read(host: Host) -> Backend:
    """Wait for the child's account of the import and of the devices; TensorFlow needs no second one."""
    chosen = frameworks.backend(host)
    name, source = chosen.name, chosen.source
    if frameworks.other_backend(host) is None:
        return Backend(name=name, source=source)
    child = frameworks.backend_child(host)
    imported = child.wait_for(FrameworkImported)
    if imported is None:
        how = child.end().how
        hidden = child.message(Shadowed)  # in the way of the child itself, as of any program
        return Backend(
            name=name,
            source=source,
            imported=None if how == "timed out" else False,
            error=how,
            shadows=hidden.files if hidden else {},
            ending=how,
        )
    listed = child.wait_for(DevicesListed) if imported.imported else None
    return Backend(
        name=name,
        source=source,
        imported=imported.imported,
        import_seconds=imported.import_seconds,
        error_type=imported.error_type,
        error=imported.error,
        shadows=imported.shadows,
        keras_settings=imported.keras_settings,
        version=imported.version,
        path=imported.path,
        built_with_cuda=imported.built_with_cuda,
        cuda_version=imported.cuda_version,
        devices=None if listed is None else devices_of(listed),
        problem=None if listed is None else listed.problem,
        ending=child.end().how if listed is None and imported.imported else None,
    )
