"""The third witness: TensorFlow itself, imported once, in a child, with its log un-silenced."""

import msgspec

from gpucheck.engine.plugin import probe
from gpucheck.host import Child, Host
from gpucheck.model import Fact, Level
from gpucheck.probes._framework import child, elsewhere, oom_killed, trainer
from gpucheck.probes._last_words import last_words
from gpucheck.probes.limits import oom_kills


class Device(Fact, frozen=True, kw_only=True):
    """One physical device that TensorFlow lists."""

    name: str  # "GPU:0"
    kind: str  # "GPU", "CPU", "TPU"
    description: str | None = None  # "NVIDIA H200"
    compute_capability: tuple[int, int] | None = None


class MemoryGrowth(Fact, frozen=True, kw_only=True):
    """Whether TensorFlow can be told to take GPU memory as it needs it. None where there is no GPU to ask for."""

    settable: bool | None = None  # accepted for every GPU before initialisation
    same_on_all: bool | None = None
    refused_after: bool | None = None  # refused after initialisation, as documented
    problem: str | None = None


class TensorFlow(Fact, frozen=True, kw_only=True):
    """What ``import tensorflow`` led to. ``imported`` is None if the child was stopped before it could tell."""

    imported: bool | None = None
    import_seconds: float | None = None
    error_type: str | None = None  # "ImportError"
    error: str | None = None  # the exception's last line, or how the child ended: "killed by SIGBUS"
    shadows: dict[str, str] = msgspec.field(default_factory=dict)  # of a failed import: module -> the user's file in its place
    keras_settings: str | None = None  # of a failed import: "PATH: floatx is ...": what in keras.json Keras can't take
    version: str | None = None
    path: str | None = None  # the imported package's folder
    built_with_cuda: bool | None = None
    built_with_rocm: bool | None = None
    cuda_version: str | None = None  # build info: "12.5.1"
    cudnn_version: str | None = None  # build info: "9"
    compute_capabilities: tuple[str, ...] = ()  # build info: "sm_60", "compute_90"
    devices: tuple[Device, ...] | None = None  # None: the listing was not reached
    memory_growth: MemoryGrowth = MemoryGrowth()
    mapped_libraries: dict[str, str] = msgspec.field(default_factory=dict)  # soname -> the file really mapped into the process
    ending: str | None = None  # how the child ended before it was done here: "timed out", "killed by SIGSEGV"
    stage: str | None = None  # the stage it was in then: "import", "devices"
    oom_kills: int | None = None  # as in ``Training``
    last_words: tuple[str, ...] = ()  # as in ``Training``

    @property
    def lists_gpu(self) -> bool:
        """Whether it listed a GPU, which proves every library that it needs for that."""
        return any(device.kind == "GPU" for device in self.devices or ())


@probe(level=Level.DEFAULT, tensorflow=True)
def read(host: Host) -> TensorFlow:
    """Wait for the framework child's account of the import and of the devices."""
    before = oom_kills(host)
    framework = child(host)
    imported = framework.until("import")
    if imported is None:
        ended = framework.end()
        how = ended.how
        shadows = framework.stages().get("shadows") or {}  # in the way of the child itself, as of any program
        return TensorFlow(
            imported=None if how == "timed out" else False,
            error=how,
            shadows=shadows,
            ending=how,
            stage=ended.stage,
            oom_kills=oom_killed(host, how, before),
            last_words=last_words(framework),
        )
    if not imported["imported"]:
        return TensorFlow(**imported)
    devices = framework.until("devices")
    growth = framework.until("growth") or {}
    mapped = framework.until("mapped") or {}
    if host.request.smoke and elsewhere(host) is None:
        growth = {**growth, **(_refused(trainer(host)) or {})}
    over = framework.end() if devices is None else None
    ending = over.how if over else None
    return TensorFlow(
        **{**imported, "compute_capabilities": tuple(imported["compute_capabilities"])},
        devices=None if devices is None else tuple(msgspec.convert(device, Device) for device in devices),
        memory_growth=msgspec.convert(growth, MemoryGrowth),
        mapped_libraries=mapped,
        ending=ending,
        stage=over.stage if over else None,
        oom_kills=oom_killed(host, ending, before),
        last_words=last_words(framework) if over else (),
    )


def _refused(framework: Child) -> dict[str, bool] | None:
    """Known once the GPUs are initialised; the plan comes right after it, so waiting for that is enough."""
    framework.until("plan")
    answer = framework.stages().get("growth after")
    return answer if isinstance(answer, dict) else None
