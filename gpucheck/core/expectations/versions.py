"""Expected versions of the driver, its CUDA, cuDNN, TensorFlow, Keras and Python."""

from collections.abc import Callable, Iterator

from gpucheck.core.compat import versions
from gpucheck.core.expectations.items import Item, Machine
from gpucheck.core.model import Evidence, Level, saw
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.libraries import Libraries
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow

OF_NODE = ("driver", "cuda")  # the others belong to an environment, and a node may have many
ABSENT = "absent"  # not installed: the expectation is not met


def version(machine: Machine) -> Iterator[Item]:
    """Installed versions."""
    wanted = machine.expected.versions
    for name, (what, look) in _VERSIONS.items():
        specifier = getattr(wanted, name)
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


def _tensorflow(machine: Machine) -> Version:
    tensorflow, packages = machine.get(TensorFlow), machine.get(Packages)
    if tensorflow is not None and tensorflow.version:
        return tensorflow.version, saw(tensorflow, "version")
    if packages is None:
        return None, ()
    if packages.tensorflow is None:
        return (None if packages.tensorflow_folder else ABSENT), saw(packages, "tensorflow")
    return packages.tensorflow.version, saw(packages, "tensorflow.version")


def _keras(machine: Machine) -> Version:
    keras, packages = machine.get(Keras), machine.get(Packages)
    if keras is not None and keras.version:
        return keras.version, saw(keras, "version")
    if packages is None:
        return None, ()
    return (packages.keras.version if packages.keras else ABSENT), saw(packages, "keras.version" if packages.keras else "keras")


def _python(machine: Machine) -> Version:
    interpreter = machine.get(Interpreter)
    return (None, ()) if interpreter is None else (interpreter.version, saw(interpreter, "version"))


_VERSIONS: dict[str, tuple[str, Callable[[Machine], Version]]] = {
    "driver": ("the NVIDIA driver", _driver),
    "cuda": ("the driver's CUDA", _cuda),
    "cudnn": ("cuDNN", _cudnn),
    "tensorflow": ("TensorFlow", _tensorflow),
    "keras": ("Keras", _keras),
    "python": ("Python", _python),
}


def versions_seen(machine: Machine) -> dict[str, str | None]:
    """Every version by its name in the file: None if unknown, ``ABSENT`` if not installed."""
    return {name: look(machine)[0] for name, (_, look) in _VERSIONS.items()}
