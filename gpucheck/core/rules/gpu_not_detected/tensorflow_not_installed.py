"""TensorFlow is not installed for the Python that gpucheck examines.

Symptom:
    ModuleNotFoundError: No module named 'tensorflow'
Cause:
    The package was never installed for this interpreter, or was installed for another one.
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
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "gpus-not-listed", "training-failed", "training-crashed"),
    tensorflow=True,
    first_check="which Python runs the program, and its pip list",
)
def check(
    presence: GpuPresence,
    build: TensorFlowBuild,
    backend: KerasBackend | None,
    outcomes: TrainingOutcomes,
    interpreter: Interpreter,
    packages: Packages,
    context: Context,
) -> Finding | Skip | None:
    """Report that no distribution is installed and no import succeeded: nothing can train, not even on a CPU."""
    if not build.absent or (backend is not None and backend.ready):
        return None
    if packages.tensorflow_folder is not None:
        return Skip(f"{packages.tensorflow_folder} exists without a package's metadata: only the import shows whether it works")
    with_cuda = bool(presence.present and build.cuda_wheels)
    return Finding(
        summary=f"TensorFlow is not installed for {interpreter.executable} (Python {interpreter.version}).",
        evidence=(
            *saw(packages, "tensorflow"),
            *saw(interpreter, "executable", "version"),
            *outcomes.saw_events("module-missing"),
        ),
        fix=repairs(context, gpu=with_cuda),
    )


def repairs(context: Context, *, gpu: bool | None = None, managed: str = "") -> Fixes:
    """Install TensorFlow for this Python.

    Args:
        context: what is known about the machine.
        gpu: whether there is a GPU for which pip has packages; None if unknown.
        managed: "yes" if pip refuses to install into this Python, which belongs to the system.
    """
    if managed:
        requirement = "tensorflow" if context.excludes(system="linux|wsl") else releases.recommended()
        yield Fix(text="Create an environment, and install TensorFlow there", command=context.new_environment(requirement))
        apt = Fix(text="If Python lacks venv, install it first", command="sudo apt-get install -y python3-venv")
        if not context.excludes(system="linux|wsl"):
            yield from context.only(apt, distribution="debian|ubuntu")
        return
    if gpu is None and not context.excludes(system="linux|wsl"):
        gpu = True if context.gpus is not None or context.driver is not None else None
    if context.python_version and releases.for_python(context.python_version) is None:
        text = f"Create an environment with another Python: there is no TensorFlow for {context.python_version}"
        yield Fix(text=text, command=context.new_environment("tensorflow", python="3.12"))
    elif gpu:
        yield context.with_cuda()
    else:
        yield Fix(text="Install TensorFlow for this Python", command=context.pip("tensorflow"))
        if gpu is None:
            with_cuda = Fix(text="With its CUDA libraries, for an NVIDIA GPU", command=context.pip(releases.recommended()))
            yield from context.only(with_cuda, system="linux|wsl")
    if context.interpreter is None:
        show = f"{context.python} -c 'import sys; print(sys.executable, sys.version)'"
        yield Fix.look("Check which Python this is", show.replace("'", '"') if context.windows else show)
    for name in keras_tables.OTHERS:
        if context.packages is not None and not missing_packages(context.packages, name):
            text = f"Or train with Keras on {keras_tables.TITLES[name]}, which is installed"
            yield Fix(text=text, command=f"gpucheck --backend {name}")
