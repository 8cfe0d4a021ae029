"""Keras should train on JAX or PyTorch, but that framework, or a Keras release that supports it, is not installed.

Symptom:
    - ModuleNotFoundError: No module named 'jax'
    - ModuleNotFoundError: No module named 'torch'
    - ModuleNotFoundError: No module named 'keras'
Cause:
    The keras package does not include a framework: install each backend separately, into the environment of the Python that
    trains. Keras 2 supports no backend other than TensorFlow.
Verify:
    gpucheck --backend jax trains on every device.
Unless:
    You train with TensorFlow: omit --backend.
Example:
    request.backend = "jax"
    backend = {"name": "jax", "source": "--backend", "imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'jax'"}
    keras = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'jax'", "backend": "jax", "backend_source": "--backend"}
    training.runs = []
    -> Keras can't train on JAX: jax and jaxlib are not installed for /home/user/.venv/bin/python (Python 3.12.3).
References:
    https://keras.io/getting_started/
    https://docs.jax.dev/en/latest/installation.html
"""

from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.combiners.keras_backend import missing_packages
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context


@rule(scope=Scope.ENVIRONMENT, explains=("training-failed",), first_check="KERAS_BACKEND and ~/.keras/keras.json")
def check(
    request: Request,
    presence: GpuPresence,
    interpreter: Interpreter,
    packages: Packages,
    backend: Backend | None,
    context: Context,
) -> Finding | None:
    """Report missing packages of the configured backend, unless its import succeeded."""
    name = request.other_backend
    if name is None:
        return None
    absent = missing_packages(packages, name)
    if backend is not None and backend.imported:
        absent = [package for package in absent if package == "keras"]
    version = packages.keras.version if packages.keras is not None else "3"
    old = not versions.at_least(version, "3")
    if not absent and not old:
        return None
    which = f"Keras {version} is installed, but releases before 3 support no backend other than TensorFlow"
    if absent:
        verb = "is" if len(absent) == 1 else "are"
        which = f"{listing(absent)} {verb} not installed for {interpreter.executable} (Python {interpreter.version})"
    lacks = bool(set(absent) & set(keras_tables.PACKAGES[name]))
    return Finding(
        summary=f"Keras can't train on {keras_tables.TITLES[name]}: {which}.",
        evidence=(
            *(saw(backend, "name", "imported") if backend is not None else saw(request, "backend")),
            *saw(packages, "keras", "others"),
            *saw(interpreter, "executable", "version"),
        ),
        fix=repairs(context, backend=name if lacks else "", keras="keras" in absent or old, gpu=bool(presence.present)),
    )


def repairs(context: Context, *, backend: str = "jax", keras: bool = True, gpu: bool = True) -> Fixes:
    """Install the missing packages.

    Args:
        context: what is known about the machine.
        backend: the missing framework; empty if it is installed.
        keras: whether Keras 3 is missing.
        gpu: whether there is a GPU to train on.
    """
    if backend:
        plain = Fix(text=f"Install {keras_tables.TITLES[backend]}", command=context.pip(backend))
        yield context.with_cuda(backend, absent=True) if gpu else plain
    if keras:
        yield Fix(text="Install Keras 3", command=context.pip("--upgrade", "keras"))
