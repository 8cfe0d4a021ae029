"""The installed distributions that decide whether TensorFlow can use a GPU. From metadata only: nothing is imported."""

import re

import msgspec

from gpucheck.compat import versions
from gpucheck.engine.plugin import probe
from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.probes._distributions import (
    Installed,
    flavours,
    installed,
    interpreter,
    normalised,
    provider,
    search_path,
    tensorflow_folder,
)


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


# What else decides about a GPU, shares its libraries, or breaks the import.
OTHERS = frozenset(
    {
        "cupy-cuda11x",
        "cupy-cuda12x",
        "cupy-cuda13x",
        "h5py",
        "horovod",
        "jax",
        "jaxlib",
        "jax-cuda12-plugin",
        "jax-cuda13-plugin",
        "ml-dtypes",
        "numpy",
        "protobuf",
        "tensorflow-addons",
        "tensorflow-directml-plugin",
        "tensorflow-io",
        "tensorflow-metal",
        "tensorflow-probability",
        "tensorflow-text",
        "tensorrt",
        "tensorrt-cu12",
        "tensorrt-libs",
        "torch",
        "torchvision",
    }
)

# Names end in the CUDA major up to CUDA 12, and in nothing from 13 on (cuDNN, NCCL and NVSHMEM keep the ending).
_CUDA_13 = ("cublas", "cuda", "cufft", "cufile", "curand", "cusolver", "cusparse", "npp", "nvjitlink", "nvjpeg", "nvvm")
_REQUIREMENT = re.compile(r"^Requires-Dist: *([A-Za-z0-9][\w.-]*) *(?:\[[^]]*\])? *\(?([^;()\n]*)\)? *(?:;(.*))?$", re.MULTILINE)


@probe(level=Level.QUICK)
def read(host: Host) -> Packages:
    """Read the ``*.dist-info`` folders on the examined interpreter's path."""
    path = search_path(interpreter(host))
    distributions = installed(host, path)
    several = flavours(distributions)
    folder = tensorflow_folder(host, path)
    tensorflow = provider(host, several, folder)
    metadata = _Metadata() if tensorflow is None else _metadata(host, tensorflow)
    return Packages(
        tensorflow=_distribution(tensorflow),
        flavours=tuple(_of(distribution) for distribution in several),
        tensorflow_folder=folder,
        tensorflow_requires_python=metadata.requires_python,
        and_cuda=tuple(_requirement(name, specifier, distributions) for name, specifier in metadata.and_cuda),
        keras=_distribution(distributions.get("keras") or distributions.get("keras-nightly")),
        keras_requirement=metadata.keras,
        tf_keras=_distribution(distributions.get("tf-keras") or distributions.get("tf-keras-nightly")),
        nvidia=tuple(_of(distributions[name]) for name in sorted(distributions) if _cuda_library(name)),
        libtpu=_distribution(distributions.get("libtpu") or distributions.get("libtpu-nightly")),
        others=tuple(_of(distributions[name]) for name in sorted(distributions.keys() & OTHERS)),
    )


def _cuda_library(name: str) -> bool:
    """Whether a distribution is one of NVIDIA's wheels of CUDA libraries (its bindings and tools are not)."""
    component = name.removeprefix("nvidia-")
    ending = component[-5:]
    if component == name:
        return False
    return (ending.startswith("-cu") and ending[3:].isdigit()) or component.partition("-")[0] in _CUDA_13


class _Metadata(msgspec.Struct, frozen=True):
    requires_python: str | None = None
    keras: str | None = None
    and_cuda: tuple[tuple[str, str], ...] = ()


def _metadata(host: Host, tensorflow: Installed) -> _Metadata:
    text = host.read(f"{tensorflow.folder}/{tensorflow.metadata}/METADATA", limit_bytes=1 << 16) or ""
    headers = text.replace("\r\n", "\n").partition("\n\n")[0]  # the description follows after the first blank line
    python = headers.partition("\nRequires-Python:")[2].partition("\n")[0].strip()
    keras, pins = None, []
    for match in _REQUIREMENT.finditer(headers):
        name, specifier, marker = normalised(match[1]), match[2].replace(" ", ""), match[3] or ""
        if "and-cuda" in marker.replace("_", "-"):
            pins.append((name, specifier))
        elif name in ("keras", "keras-nightly") and "extra" not in marker:
            keras = specifier or None
    return _Metadata(python or None, keras, tuple(pins))


def _requirement(name: str, specifier: str, distributions: dict[str, Installed]) -> Requirement:
    distribution = distributions.get(name)
    if distribution is None:
        return Requirement(name=name, specifier=specifier)
    return Requirement(
        name=name,
        specifier=specifier,
        installed=distribution.version,
        satisfied=versions.satisfies(distribution.version, specifier),
    )


def _of(distribution: Installed) -> Distribution:
    return Distribution(name=distribution.name, version=distribution.version, folder=distribution.folder)


def _distribution(distribution: Installed | None) -> Distribution | None:
    return None if distribution is None else _of(distribution)
