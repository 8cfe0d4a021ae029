"""TensorFlow is installed on this machine, but for another Python than the one that gpucheck examines.

Symptom:
    Requirement already satisfied: tensorflow in /usr/lib/python3/dist-packages (2.20.0)
      ModuleNotFoundError: No module named 'tensorflow'
    - It works in the terminal and not in the notebook
Cause:
    Each interpreter and each virtual environment has its own packages. python, pip and the notebook's kernel can belong to three
    different ones, or the environment was not activated.
Fix:
    1. Install with the Python that runs the program, not with another one's pip
       $ python -m pip install tensorflow
    2. Or run your program with the interpreter that has TensorFlow (in a notebook, choose that kernel), or activate its environment
    3. Check which Python this is
       ? python -c 'import sys; print(sys.executable)'; python -m pip --version
    4. Check the one that has it
       ? gpucheck --python /path/to/python
Verify:
    python -c 'import sys, tensorflow; print(sys.executable)' prints the interpreter that you meant.
Unless:
    This interpreter is not the one that trains: name the right one with --python.
Example:
    interpreter.executable = "/usr/bin/python3"
    interpreter.prefix = "/usr"
    interpreter.environment = null
    interpreter.active_environment = null
    interpreter.externally_managed = true
    interpreter.others = [{"executable": "/home/user/.venv/bin/python", "tensorflow": "tensorflow 2.21.0"}]
    packages = {}
    libraries = {}
    tensorflow = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'tensorflow'"}
    keras = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'keras'"}
    training.runs = []
    -> /usr/bin/python3 has no TensorFlow; tensorflow 2.21.0 is installed for /home/user/.venv/bin/python.
References:
    https://docs.python.org/3/library/venv.html
"""

from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.combiners.keras_backend import KerasBackend
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.system.shells import word


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "tensorflow-not-installed",
        "tensorflow-import-failed",
        "python-unsupported",
        "gpus-not-listed",
        "training-failed",
        "training-crashed",
    ),
    tensorflow=True,
)
def check(presence: GpuPresence, build: TensorFlowBuild, backend: KerasBackend | None) -> Finding | Skip | None:
    """None here, and at least one in another environment on PATH; the shell's active environment comes first."""
    installation, interpreter = build.installation, build.installation.interpreter
    if not interpreter.others or not build.absent or build.packages.tensorflow_folder:
        return None
    if backend is not None and backend.ready:
        return None
    active = f"{interpreter.active_environment}/" if interpreter.active_environment else None
    others = sorted(
        range(len(interpreter.others)),
        key=lambda place: not (active and interpreter.others[place].executable.startswith(active)),
    )
    other = interpreter.others[others[0]]
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    here = Fix(text="Or install it here too", command=installation.context.pip("tensorflow"))
    return Finding(
        summary=f"{interpreter.executable} has no TensorFlow; {other.tensorflow} is installed for {other.executable}{more}.",
        evidence=saw(interpreter, "executable", *(f"others[{place}]" for place in others)),
        fix=(
            Fix(text=f"Run your program with {other.executable}"),
            installation.context.with_cuda() if presence.here and build.cuda_wheels else here,
            Fix(text="Check that one", command=f"gpucheck --python {word(other.executable)}", kind="look"),
        ),
    )
