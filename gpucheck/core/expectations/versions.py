"""Expected versions of the driver, its CUDA, cuDNN, TensorFlow, Keras and Python, and expected environment variables."""

from collections.abc import Callable, Iterator

from gpucheck.core.compat import versions
from gpucheck.core.expectations.items import Item, Machine
from gpucheck.core.model import Evidence, Level, saw
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.libraries import Libraries
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow

OF_NODE = ("driver", "cuda")  # the others belong to an environment, and a node may have many
UNSET = "not set"
ABSENT = "absent"  # not installed: the expectation is not met


def version(machine: Machine) -> Iterator[Item]:
    """Yield installed versions."""
    expected = machine.expected.versions
    for name, (what, look) in _VERSIONS.items():
        specifier = getattr(expected, name)
        if specifier is None or (machine.request.level is Level.NODE and name not in OF_NODE):
            continue
        installed, evidence = look(machine)
        if installed is None or installed == ABSENT:
            met = None if installed is None else False
            yield Item(what, specifier, installed or "its version is unknown", met, evidence)
            continue
        met = versions.satisfies(installed, specifier)
        observed = installed if met is not None else f"{installed}, which can't be compared as a version"
        yield Item(what, specifier, observed, met, evidence)


Version = tuple[str | None, tuple[Evidence, ...]]  # None: unknown


def _driver(machine: Machine) -> Version:
    driver = machine.get(Driver)
    if driver is None:
        return None, ()
    if driver.status == "library-not-found":
        return ABSENT, saw(driver, "status")
    return driver.version, saw(driver, "version")


def _cuda(machine: Machine) -> Version:
    cuda, driver = machine.get(Cuda), machine.get(Driver)
    if cuda is not None and cuda.driver_version:
        return cuda.driver_version, saw(cuda, "driver_version")
    if driver is not None and driver.cuda_version:
        return driver.cuda_version, saw(driver, "cuda_version")
    if cuda is not None and cuda.status == "library-not-found":
        return ABSENT, saw(cuda, "status")
    return None, ()


def _cudnn(machine: Machine) -> Version:
    libraries, packages = machine.get(Libraries), machine.get(Packages)
    listed = enumerate(libraries.libraries if libraries else ())
    place, library = next((each for each in listed if each[1].soname.startswith("libcudnn.so")), (0, None))
    if libraries and library and library.path:
        return library.version, saw(libraries, f"libraries[{place}].path", f"libraries[{place}].version")
    for number, wheel in enumerate(packages.nvidia if packages else ()):
        if wheel.name.startswith("nvidia-cudnn") and packages:
            return wheel.version, saw(packages, f"nvidia[{number}].name", f"nvidia[{number}].version")
    if libraries and library:
        return ABSENT, saw(libraries, f"libraries[{place}].soname", f"libraries[{place}].path")
    if packages and packages.tensorflow is None:
        return ABSENT, saw(packages, "nvidia")
    return None, ()


def _framework(machine: Machine, kind: type[TensorFlow] | type[Keras], name: str) -> Version:
    """Return the version as imported, else that of the package."""
    imported, packages = machine.get(kind), machine.get(Packages)
    if imported is not None and imported.version:
        return imported.version, saw(imported, "version")
    if packages is None:
        return None, ()
    if (installed := getattr(packages, name)) is not None:
        return installed.version, saw(packages, f"{name}.version")
    there = name == "tensorflow" and packages.tensorflow_folder  # without metadata, so of an unknown version
    return (None if there else ABSENT), saw(packages, name)


def _python(machine: Machine) -> Version:
    interpreter = machine.get(Interpreter)
    return (None, ()) if interpreter is None else (interpreter.version, saw(interpreter, "version"))


_VERSIONS: dict[str, tuple[str, Callable[[Machine], Version]]] = {
    "driver": ("the NVIDIA driver", _driver),
    "cuda": ("the driver's CUDA", _cuda),
    "cudnn": ("cuDNN", _cudnn),
    "tensorflow": ("TensorFlow", lambda machine: _framework(machine, TensorFlow, "tensorflow")),
    "keras": ("Keras", lambda machine: _framework(machine, Keras, "keras")),
    "python": ("Python", _python),
}


def versions_seen(machine: Machine) -> dict[str, str | None]:
    """Return every version by its name in the file: None if unknown, ``ABSENT`` if not installed."""
    return {name: look(machine)[0] for name, (_, look) in _VERSIONS.items()}


def environment(machine: Machine) -> Iterator[Item]:
    """Yield variables that must have a value, or be unset. A node has many environments, so `gpucheck node` checks none."""
    fact = machine.get(Environment)
    for name, required in machine.expected.environment.items() if machine.request.level is not Level.NODE else ():
        expected = f'"{required}"' if isinstance(required, str) else UNSET
        if fact is None:
            yield Item(name, expected, machine.why_not(Environment), None)
            continue
        value = fact.variables.get(name)
        seen = UNSET if value is None else f'"{value}"'
        yield Item(name, expected, seen, seen == expected, saw(fact, "variables"))
