"""TensorFlow is not installed for the Python that is examined.

Symptom:
    ModuleNotFoundError: No module named 'tensorflow'
Cause:
    The package was never installed for this interpreter, or was installed for another one.
Fix:
    1. See which Python that is
       $ python -c 'import sys; print(sys.executable, sys.version)'
    2. Install TensorFlow for it, with its CUDA libraries (Linux with an NVIDIA GPU)
       $ python -m pip install "tensorflow[and-cuda]==2.20.*"
    3. Or for the CPU
       $ python -m pip install tensorflow
Verify:
    python -c 'import tensorflow as tf; print(tf.__version__)'
Unless:
    You train with Keras on JAX or PyTorch: say so with --backend jax or --backend torch. Where KERAS_BACKEND says it, and the
    framework is installed, this is no fault either.
Example:
    packages = {}
    libraries = {}
    tensorflow = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'tensorflow'"}
    keras = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'keras'"}
    training.runs = []
    log.events = [{"kind": "module-missing", "line": 1, "text": "ModuleNotFoundError: No module named 'tensorflow'", "fields": {"module": "tensorflow"}}]
    -> TensorFlow is not installed for /home/user/.venv/bin/python (Python 3.12.3).
References:
    https://www.tensorflow.org/install/pip
"""

from gpucheck.compat import keras as tables
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.environment import Environment
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._backend import instead, missing
from gpucheck.rules._commands import cuda_tensorflow, pip
from gpucheck.rules._gpus import gpu_here
from gpucheck.rules._log import events
from gpucheck.rules._tensorflow import tensorflow_absent


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "gpus-not-listed", "training-failed", "training-crashed"),
    tensorflow=True,
)
def check(
    request: Request,
    system: System,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    environment: Environment | None,
    backend: Backend | None,
    tensorflow: TensorFlow | None,
    log: Log | None,
) -> Finding | Skip | None:
    """No distribution, and no import that succeeded. Nothing can be trained then, on a CPU neither."""
    if not tensorflow_absent(packages, tensorflow):
        return None
    if environment is not None and instead(environment, packages, backend):
        return None
    if packages.tensorflow_folder is not None:
        return Skip(f"{packages.tensorflow_folder} is there, without a package's metadata: only the import can tell")
    gpu = gpu_here(request, container, pci, driver, cuda) and system.platform == "linux"
    fix = (
        cuda_tensorflow(interpreter)
        if gpu and system.architecture == "x86_64"
        else Fix(text="Install TensorFlow", command=pip(interpreter, "tensorflow"))
    )
    return Finding(
        summary=f"TensorFlow is not installed for {interpreter.executable} (Python {interpreter.version}).",
        evidence=(
            *saw(packages, "tensorflow"),
            *saw(interpreter, "executable", "version"),
            *events(log, "module-missing"),
        ),
        fix=(fix, *_others(packages)),
    )


def _others(packages: Packages) -> tuple[Fix, ...]:
    """What Keras could train on as it is."""
    return tuple(
        Fix(text=f"Or train with Keras on {tables.TITLES[name]}, which is installed", command=f"gpucheck --backend {name}")
        for name in tables.OTHERS
        if not missing(packages, name)
    )
