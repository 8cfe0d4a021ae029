"""TensorFlow is not installed for the Python that gpucheck examines.

Symptom:
    ModuleNotFoundError: No module named 'tensorflow'
Cause:
    The package was never installed for this interpreter, or was installed for another one.
Fix:
    1. Check which Python this is
       ? python -c 'import sys; print(sys.executable, sys.version)'
    2. Install TensorFlow for it, with its CUDA libraries (Linux with an NVIDIA GPU)
       $ python -m pip install "{tensorflow}"
    3. Or for the CPU
       $ python -m pip install tensorflow
Verify:
    $ python -c 'import tensorflow as tf; print(tf.__version__)'
Unless:
    You train with Keras on JAX or PyTorch: use --backend jax or --backend torch. If KERAS_BACKEND selects an installed framework,
    this is not an error either.
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

from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.combiners.keras_backend import KerasBackend, missing_packages
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.packages import Packages


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "gpus-not-listed", "training-failed", "training-crashed"),
    tensorflow=True,
)
def check(
    presence: GpuPresence, build: TensorFlowBuild, backend: KerasBackend | None, outcomes: TrainingOutcomes
) -> Finding | Skip | None:
    """No distribution, and no import that succeeded. Nothing can be trained then, on a CPU neither."""
    installation = build.installation
    interpreter, packages = installation.interpreter, installation.packages
    if not build.absent or (backend is not None and backend.ready):
        return None
    if packages.tensorflow_folder is not None:
        return Skip(f"{packages.tensorflow_folder} is there, without a package's metadata: only the import can tell")
    with_cuda = presence.here and build.cuda_wheels
    plain = Fix(text="Install TensorFlow", command=installation.context.pip("tensorflow"))
    return Finding(
        summary=f"TensorFlow is not installed for {interpreter.executable} (Python {interpreter.version}).",
        evidence=(
            *saw(packages, "tensorflow"),
            *saw(interpreter, "executable", "version"),
            *outcomes.saw_events(Kind.MODULE_MISSING),
        ),
        fix=(installation.context.with_cuda() if with_cuda else plain, *_others(packages)),
    )


def _others(packages: Packages) -> tuple[Fix, ...]:
    """What Keras could train on as it is."""
    return tuple(
        Fix(text=f"Or train with Keras on {TITLES[name]}, which is installed", command=f"gpucheck --backend {name}")
        for name in keras_tables.OTHERS
        if not missing_packages(packages, name)
    )
