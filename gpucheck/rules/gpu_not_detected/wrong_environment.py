"""TensorFlow is installed on this machine, but for another Python than the one that is examined.

Symptom:
    ModuleNotFoundError: No module named 'tensorflow'
    pip says "Requirement already satisfied: tensorflow", and the import fails
    It works in the terminal and not in the notebook
Cause:
    Each interpreter and each virtual environment has packages of its own. python, pip and the notebook's kernel can belong to three
    different ones, or the environment was not activated.
Fix:
    1. Install with the Python that runs the program, not with another one's pip
       $ python -m pip install tensorflow
    2. Or run your program with the interpreter that has TensorFlow (in a notebook, choose that kernel), or activate its environment
    3. See which Python that is
       $ python -c 'import sys; print(sys.executable)'; python -m pip --version
    4. Check the one that has it
       $ gpucheck --python /path/to/python
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

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.environment import Environment
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._backend import instead
from gpucheck.rules._commands import pip, word
from gpucheck.rules._tensorflow import tensorflow_absent


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
def check(
    interpreter: Interpreter,
    packages: Packages,
    environment: Environment | None,
    backend: Backend | None,
    tensorflow: TensorFlow | None,
) -> Finding | Skip | None:
    """None here, and at least one elsewhere on PATH; the shell's active environment comes first."""
    if not interpreter.others or not tensorflow_absent(packages, tensorflow) or packages.tensorflow_folder:
        return None
    if environment is not None and instead(environment, packages, backend):
        return None
    active = f"{interpreter.active_environment}/" if interpreter.active_environment else None
    others = sorted(
        range(len(interpreter.others)),
        key=lambda place: not (active and interpreter.others[place].executable.startswith(active)),
    )
    other = interpreter.others[others[0]]
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    python = word(other.executable)
    return Finding(
        summary=f"{interpreter.executable} has no TensorFlow; {other.tensorflow} is installed for {other.executable}{more}.",
        evidence=saw(interpreter, "executable", *(f"others[{place}]" for place in others)),
        fix=(
            Fix(text=f"Run your program with {other.executable}; to check that one", command=f"gpucheck --python {python}"),
            Fix(
                text="Or install it here too, with what a GPU needs if one is to be used",
                command=pip(interpreter, "tensorflow"),
            ),
        ),
    )
