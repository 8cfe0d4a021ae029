"""The installed distributions that affect TensorFlow's use of a GPU, from metadata only: nothing is imported.

Format of requirements: PEP 508 (names, specifiers, markers), as in wheels. Simple markers are evaluated here, and ``packaging``
only evaluates the others, because importing it takes a tenth of a quick run.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.compat import versions
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes._distributions import (
    FLAVOURS,
    Installed,
    flavours,
    installed,
    interpreter,
    normalized,
    provider,
    tensorflow_folder,
)
from gpucheck.core.probes._package_files import DamagedFile, damaged, hidden


class Distribution(Fact, frozen=True, kw_only=True):
    """One installed distribution."""

    name: str  # normalized: "nvidia-cudnn-cu12"
    version: str
    folder: str  # its site-packages folder


class Requirement(Fact, frozen=True, kw_only=True):
    """A package's requirement of another, and the installed version."""

    name: str
    specifier: str  # "==12.5.3.2", "<10.0,>=9.3.0.75"
    installed: str | None = None
    satisfied: bool | None = None  # None: not installed, or not comparable
    requirer: str = "tensorflow"  # or "keras"


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


METADATA_BYTES = 1 << 16
_REQUIREMENT = re.compile(r"^Requires-Dist: *([A-Za-z0-9][\w.-]*)(?:\[[^]\n]*\])? *\(?([^;()\n]*)\)? *(?:;(.*))?$", re.MULTILINE)
_PLAIN_MARKER = r"""\s*(\w+)\s*(==|!=|<=|>=|<|>)\s*["']([^"']*)["']\s*"""

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


class _Entry(msgspec.Struct, frozen=True):
    """A line of metadata."""

    name: str
    specifier: str
    marker: str  # "": always required


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
    headers = "" if tensorflow is None else _headers(host, tensorflow)
    required = list(_entries(headers))
    metadata = {"tensorflow": required}
    if tensorflow is not None and keras is not None:
        metadata["keras"] = list(_entries(_headers(host, keras)))
    unmet = _unmet(host, own, distributions, metadata)
    checked = [distributions[name] for name in _CHECKED if name in distributions]
    return Packages(
        tensorflow=_distribution(tensorflow),
        flavours=tuple(_of(distribution) for distribution in several),
        tensorflow_folder=folder,
        tensorflow_requires_python=headers.partition("\nRequires-Python:")[2].partition("\n")[0].strip() or None,
        and_cuda=tuple(_against(entry, distributions) for entry in required if _of_extra(entry.marker)),
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


def _keras_requirement(required: Iterable[_Entry]) -> str | None:
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


def _headers(host: Host, package: Installed) -> str:
    """Return the metadata without the description, which follows after the first blank line."""
    text = host.read(f"{package.folder}/{package.metadata}/METADATA", limit_bytes=METADATA_BYTES) or ""
    return text.replace("\r\n", "\n").partition("\n\n")[0]


def _entries(metadata: str) -> Iterator[_Entry]:
    """Yield the requirements, including those of extras."""
    for match in _REQUIREMENT.finditer(metadata):
        yield _Entry(normalized(match[1]), match[2].replace(" ", ""), (match[3] or "").strip())


def _against(entry: _Entry, distributions: dict[str, Installed], requirer: str = "tensorflow") -> Requirement:
    """Compare a requirement with the installed version."""
    installed = distributions.get(entry.name)
    return Requirement(
        name=entry.name,
        specifier=entry.specifier,
        installed=installed.version if installed else None,
        satisfied=versions.satisfies(installed.version, entry.specifier) if installed and entry.specifier else None,
        requirer=requirer,
    )


def _unmet(
    host: Host, interpreter: Interpreter, distributions: dict[str, Installed], metadata: dict[str, list[_Entry]]
) -> Iterator[Requirement]:
    """Yield the requirements in these metadata, without extras, that are missing or have another version.

    Args:
        host: the machine.
        interpreter: the examined one, to which markers apply.
        distributions: those installed for it.
        metadata: requirer -> its requirements.
    """
    for requirer, entry in ((requirer, entry) for requirer, required in metadata.items() for entry in required):
        if "extra" in entry.marker:
            continue
        requirement = _against(entry, distributions, requirer)
        wrong = requirement.installed is None or requirement.satisfied is False
        if wrong and (not entry.marker or _holds(entry.marker, interpreter, host)):
            yield requirement


def _holds(marker: str, interpreter: Interpreter, host: Host) -> bool:
    """Whether a marker applies to the examined interpreter; an invalid one does not."""
    values = _surroundings(interpreter, host)
    parts = [re.fullmatch(_PLAIN_MARKER, part) for part in marker.split(" and ")]
    if all(part is not None and part[1] in values for part in parts):
        return all(_compare(values[part[1]], part[2], part[3]) for part in parts if part is not None)
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    try:
        return bool(Marker(marker).evaluate(dict(values)))
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return False


def _surroundings(interpreter: Interpreter, host: Host) -> dict[str, str]:
    system, _, machine = host.uname()
    return {
        "python_version": versions.minor(interpreter.version),
        "python_full_version": interpreter.version,
        "sys_platform": interpreter.platform or host.platform,
        "platform_system": system,
        "platform_machine": machine,
        "os_name": "nt" if host.platform == "win32" else "posix",
        "implementation_name": interpreter.implementation,
        "platform_python_implementation": {"cpython": "CPython", "pypy": "PyPy"}.get(interpreter.implementation, ""),
        "extra": "",
    }


def _compare(value: str, operator: str, bound: str) -> bool:
    answer = versions.satisfies(value, operator + bound) if value[:1].isdigit() and bound[:1].isdigit() else None
    if answer is not None:
        return answer
    return (value == bound) == (operator == "==")
