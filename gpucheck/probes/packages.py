"""The installed distributions that decide whether TensorFlow can use a GPU. From metadata only: nothing is imported."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Distribution(Fact, frozen=True, kw_only=True):
    """One installed distribution."""

    name: str  # normalised: "nvidia-cudnn-cu12"
    version: str
    folder: str  # the site-packages folder it lies in


class Requirement(Fact, frozen=True, kw_only=True):
    """One pin of TensorFlow's ``and-cuda`` extra against what is installed."""

    name: str
    specifier: str  # "==12.5.3.2", "<10.0,>=9.3.0.75"
    installed: str | None = None
    satisfied: bool | None = None  # None: not installed, or not comparable


class Packages(Fact, frozen=True, kw_only=True):
    """Distributions found on the examined interpreter's ``sys.path``; the first one on the path wins, as for import."""

    tensorflow: Distribution | None = None  # the distribution whose files ``import tensorflow`` loads
    flavours: tuple[Distribution, ...] = ()  # every distribution that provides ``tensorflow``, removed names included
    tensorflow_folder: str | None = None  # .../site-packages/tensorflow, if it exists
    tensorflow_requires_python: str | None = None  # ">=3.10"
    and_cuda: tuple[Requirement, ...] = ()  # of the installed TensorFlow's metadata
    keras: Distribution | None = None
    keras_requirement: str | None = None  # TensorFlow's own: ">=3.12.0"
    tf_keras: Distribution | None = None
    nvidia: tuple[Distribution, ...] = ()  # nvidia-* wheels (CUDA libraries)
    libtpu: Distribution | None = None
    others: tuple[Distribution, ...] = ()  # jax, torch, horovod, numpy, protobuf, tensorrt, ... if installed


@probe(level=Level.QUICK)
def read(host: Host) -> Packages:
    """Read the ``*.dist-info`` folders on the examined interpreter's path."""
    raise NotImplementedError
