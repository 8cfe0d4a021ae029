"""The installed distributions that affect TensorFlow's use of a GPU, from metadata only: nothing is imported."""

from collections.abc import Iterable

import msgspec

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import _requirements
from gpucheck.core.probes._distributions import FLAVOURS, Installed, flavours, installed, interpreter, provider, tensorflow_folder
from gpucheck.core.probes._hidden_modules import hidden
from gpucheck.core.probes._package_files import DamagedFile, damaged
from gpucheck.core.probes._requirements import Entry, Requirement


class Distribution(Fact, frozen=True, kw_only=True):
    """One installed distribution."""

    name: str  # normalised: "nvidia-cudnn-cu12"
    version: str
    folder: str  # its site-packages folder


class Packages(Fact, frozen=True, kw_only=True):
    """Distributions found on the examined interpreter's ``sys.path``; the first one on the path wins, as for import."""

    tensorflow: Distribution | None = None  # the distribution whose files ``import tensorflow`` loads
    flavours: tuple[Distribution, ...] = ()  # every distribution that provides ``tensorflow``, including discontinued names
    tensorflow_folder: str | None = None  # .../site-packages/tensorflow, if it exists
    tensorflow_requires_python: str | None = None  # ">=3.10"
    and_cuda: tuple[Requirement, ...] = ()  # of the installed TensorFlow's metadata
    keras: Distribution | None = None
    keras_requirement: str | None = None  # TensorFlow's own: ">=3.12.0"
    tf_keras: Distribution | None = None
    nvidia: tuple[Distribution, ...] = ()  # nvidia-* wheels (CUDA libraries)
    libtpu: Distribution | None = None
    # Requirements of TensorFlow and Keras, without extras, that are missing or have another version.
    unmet: tuple[Requirement, ...] = ()
    damaged: tuple[DamagedFile, ...] = ()  # of NVIDIA's wheels, TensorFlow, Keras, NumPy, protobuf, ml-dtypes and h5py
    # Module that TensorFlow imports -> the user's file or folder that shadows it.
    hidden: dict[str, str] = msgspec.field(default_factory=dict)
    others: tuple[Distribution, ...] = ()  # jax, torch, horovod, numpy, protobuf, tensorrt, ... if installed


# Other distributions that use a GPU, share its libraries, or break the import.
_OTHERS = """
cupy-cuda11x cupy-cuda12x cupy-cuda13x h5py horovod jax jaxlib jax-cuda12-plugin jax-cuda13-plugin ml-dtypes numpy protobuf
tensorflow-addons tensorflow-directml-plugin tensorflow-io tensorflow-metal tensorflow-probability tensorflow-text tensorrt
tensorrt-cu12 tensorrt-libs torch torchvision
"""
OTHERS = frozenset(_OTHERS.split())

# Names end in the CUDA major up to CUDA 12, without it from 13 on (cuDNN, NCCL and NVSHMEM keep the ending).
_CUDA_13 = ("cublas", "cuda", "cufft", "cufile", "curand", "cusolver", "cusparse", "npp", "nvjitlink", "nvjpeg", "nvvm")
_KERAS = ("keras", "keras-nightly")
_CHECKED = ("keras", "numpy", "protobuf", "ml-dtypes", "h5py")  # their files are compared with RECORD


@probe(level=Level.QUICK)
def read(host: Host) -> Packages:
    """Read the ``*.dist-info`` folders on the examined interpreter's path, and compare files with their RECORD."""
    own = interpreter(host)
    distributions = installed(host, own.path)
    several = flavours(distributions)
    folder = tensorflow_folder(host, own.path)
    tensorflow = provider(host, several, folder)
    keras = distributions.get("keras") or distributions.get("keras-nightly")
    nvidia = [distributions[name] for name in sorted(distributions) if _cuda_library(name)]
    headers = "" if tensorflow is None else _requirements.headers(host, tensorflow)
    required = list(_requirements.entries(headers))
    metadata = {"tensorflow": required}
    if tensorflow is not None and keras is not None:
        metadata["keras"] = list(_requirements.entries(_requirements.headers(host, keras)))
    unmet = _requirements.unmet(host, own, distributions, metadata)
    checked = [distributions[name] for name in _CHECKED if name in distributions]
    return Packages(
        tensorflow=_distribution(tensorflow),
        flavours=tuple(_of(distribution) for distribution in several),
        tensorflow_folder=folder,
        tensorflow_requires_python=headers.partition("\nRequires-Python:")[2].partition("\n")[0].strip() or None,
        and_cuda=tuple(_requirements.against(entry, distributions) for entry in required if _of_extra(entry.marker)),
        keras=_distribution(keras),
        keras_requirement=_keras_requirement(required),
        tf_keras=_distribution(distributions.get("tf-keras") or distributions.get("tf-keras-nightly")),
        nvidia=tuple(map(_of, nvidia)),
        libtpu=_distribution(distributions.get("libtpu") or distributions.get("libtpu-nightly")),
        unmet=tuple(requirement for requirement in unmet if requirement.name not in _KERAS),
        damaged=damaged(host, [*([tensorflow] if tensorflow else []), *checked, *nvidia]),
        hidden=hidden(host, own, distributions, [*FLAVOURS, *(entry.name for entry in required)]) if tensorflow else {},
        others=tuple(_of(distributions[name]) for name in sorted(distributions.keys() & OTHERS)),
    )


def _of_extra(marker: str) -> bool:
    return "and-cuda" in marker.replace("_", "-")


def _keras_requirement(required: Iterable[Entry]) -> str | None:
    specifiers = [entry.specifier for entry in required if entry.name in _KERAS and "extra" not in entry.marker]
    return specifiers[-1] or None if specifiers else None


def _cuda_library(name: str) -> bool:
    """Whether a distribution is one of NVIDIA's wheels of CUDA libraries (its bindings and tools are not)."""
    component = name.removeprefix("nvidia-")
    ending = component[-5:]
    if component == name:
        return False
    return (ending.startswith("-cu") and ending[3:].isdigit()) or component.partition("-")[0] in _CUDA_13


def _of(distribution: Installed) -> Distribution:
    return Distribution(name=distribution.name, version=distribution.version, folder=distribution.folder)


def _distribution(distribution: Installed | None) -> Distribution | None:
    return None if distribution is None else _of(distribution)
