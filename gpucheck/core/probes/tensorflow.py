"""TensorFlow, imported once in a child with its log enabled."""

import msgspec
from msgspec.structs import replace

from gpucheck.core.child.messages.frameworks import (
    XLA_VARIABLES,
    Device,
    GrowthRefused,
    GrowthSet,
    LibrariesMapped,
    MemoryGrowth,
    TensorFlowImport,
    TensorFlowImported,
)
from gpucheck.core.child.messages.training import Planned, XlaChecked
from gpucheck.core.host import Child, Host
from gpucheck.core.logs.last_words import last_words
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import _frameworks as frameworks

__all__ = ("XLA_VARIABLES", "Device", "MemoryGrowth", "TensorFlow", "read")


class TensorFlow(TensorFlowImport, Fact, frozen=True, kw_only=True):
    """The result of ``import tensorflow``. ``imported`` is None if the child was stopped before it reported."""

    devices: tuple[Device, ...] | None = None  # None: the listing was not reached
    memory_growth: MemoryGrowth = MemoryGrowth()
    mapped_libraries: dict[str, str] = msgspec.field(default_factory=dict)  # soname -> the file mapped into the process
    ending: str | None = None  # how the child ended if it did not get this far: "timed out", "killed by SIGSEGV"
    stage: str | None = None  # the stage it was in at that time: "import", "devices"
    oom_kills: int | None = None  # as in ``Training``
    last_words: tuple[str, ...] = ()  # as in ``Training``

    @property
    def lists_gpu(self) -> bool:
        """Whether it listed a GPU, which proves that the libraries needed for that load."""
        return any(device.kind == "GPU" for device in self.devices or ())


@probe(level=Level.DEFAULT, tensorflow=True)
def read(host: Host) -> TensorFlow:
    """Wait until the framework child reports the import and the devices."""
    framework = frameworks.tensorflow_child(host)
    imported = framework.wait_for(TensorFlowImported)
    if imported is None:
        return _with_ending(host, TensorFlow(**frameworks.not_imported(framework)), framework)
    outcome = msgspec.convert(imported.outcome, TensorFlow, from_attributes=True)
    if not outcome.imported:
        return outcome
    listed = frameworks.devices_listed(host, framework)
    growth = framework.wait_for(GrowthSet) or GrowthSet(MemoryGrowth())
    mapped = framework.wait_for(LibrariesMapped)
    refused = None
    if host.request.smoke and frameworks.other_backend(host) is None:
        training = frameworks.training_child(host)
        training.wait_for(Planned)  # sent right after GrowthRefused
        refused = training.message(GrowthRefused)
    outcome = replace(
        outcome,
        devices=None if listed is None else listed.devices,
        memory_growth=replace(growth.growth, refused_after=None if refused is None else refused.refused),
        mapped_libraries={} if mapped is None else mapped.paths,
    )
    if listed is None or not _xla_read_its_flags(host, framework):
        return _with_ending(host, outcome, framework)
    return outcome


def _xla_read_its_flags(host: Host, framework: Child) -> bool:
    """Whether XLA has compiled a step with the flags that are set. A training job does that, too."""
    if host.request.smoke or frameworks.other_backend(host) is not None:
        return True
    if not any(host.env.get(name) for name in XLA_VARIABLES):
        return True
    return framework.wait_for(XlaChecked, "CPU:0") is not None


def _with_ending(host: Host, outcome: TensorFlow, framework: Child) -> TensorFlow:
    """Add how the child ended."""
    ending = framework.end()
    return replace(
        outcome,
        ending=ending.how,
        stage=str(ending.stage) if ending.stage else None,
        oom_kills=frameworks.oom_killed(host, ending.how),
        last_words=last_words(framework),
    )
