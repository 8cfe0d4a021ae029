"""The versions in the first line of a report."""

from collections.abc import Iterator

from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import Report
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow


def versions(report: Report) -> list[str]:
    """Versions of gpucheck, of Python with its environment, and of the frameworks."""
    interpreter = report.fact(Interpreter)
    python = [f"Python {interpreter.version} ({_environment(interpreter)})"] if interpreter else []
    return [f"gpucheck {report.tool.version}", *python, *_frameworks(report)]


def _frameworks(report: Report) -> Iterator[str]:
    """TensorFlow, the other backend that Keras uses, and Keras, each with its version."""
    packages, tensorflow = report.fact(Packages), report.fact(TensorFlow)
    backend, keras = report.fact(Backend), report.fact(Keras)
    other = backend if backend and backend.other else None
    installed = packages.tensorflow if packages else None
    version = (tensorflow and tensorflow.version) or (installed and installed.version)
    if version:
        yield f"TensorFlow {version}" + (f" ({installed.name})" if installed and installed.name != "tensorflow" else "")
    elif packages and not other:
        yield "no TensorFlow"
    if other and other.version:
        yield f"{TITLES[other.name]} {other.version}"
    keras_installed = packages.keras if packages else None
    if keras_version := (keras and keras.version) or (keras_installed and keras_installed.version):
        unusual = keras and keras.backend not in (None, "tensorflow")  # the checklist always names it
        yield f"Keras {keras_version}" + (f" on {keras.backend}" if keras and unusual else "")


def _environment(interpreter: Interpreter) -> str:
    kind, prefix = interpreter.environment, interpreter.prefix.replace("\\", "/")
    name = prefix.rstrip("/").rpartition("/")[2]
    if kind == "conda":
        return f"conda {name}"
    return name or kind if kind else "no virtual environment"
