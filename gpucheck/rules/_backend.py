"""What rules ask about a Keras that runs on JAX or PyTorch: whether it was told to, whether it can, and what installs it."""

import re

from gpucheck.compat import keras as tables
from gpucheck.compat import versions
from gpucheck.model import Fix
from gpucheck.probes.backend import Backend
from gpucheck.probes.environment import Environment
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages
from gpucheck.rules._commands import pip


def told(environment: Environment, backend: Backend | None) -> str | None:
    """The backend other than TensorFlow that Keras is told to train on; before it was looked at, by KERAS_BACKEND alone."""
    name = backend.name if backend is not None else environment.variables.get("KERAS_BACKEND")
    return name if name in tables.OTHERS else None


def refused(environment: Environment, packages: Packages, backend: Backend | None, error: str) -> bool:
    """Whether an import failed because Keras 3 knows no such backend as the one it is told to take: its error names that one."""
    name = backend.name if backend is not None else environment.variables.get("KERAS_BACKEND", "")
    if packages.keras is None or not versions.at_least(packages.keras.version, "3"):
        return False
    return bool(name) and name not in tables.BACKENDS and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", error) is not None


def missing(packages: Packages, name: str) -> list[str]:
    """The packages that Keras on that backend lacks."""
    present = {one.name for one in packages.others}
    absent = [package for package in tables.PACKAGES[name] if package not in present]
    return absent if packages.keras is not None else ["keras", *absent]


def instead(environment: Environment, packages: Packages, backend: Backend | None) -> bool:
    """Whether Keras is told to train on another backend, and all that it needs for that is installed."""
    name = told(environment, backend)
    return name is not None and not missing(packages, name)


def title(backend: Backend) -> str:
    """'JAX 0.10.2'."""
    return f"{tables.TITLES[backend.name]} {backend.version or ''}".rstrip()


def cuda_build(interpreter: Interpreter, name: str) -> Fix:
    """Install the build for NVIDIA GPUs."""
    return Fix(text=f"Install {tables.TITLES[name]} for NVIDIA GPUs", command=pip(interpreter, *tables.CUDA_BUILDS[name]))
