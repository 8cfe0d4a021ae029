"""TensorFlow is installed on this machine, but for another Python than the one that gpucheck examines.

Symptom:
    Requirement already satisfied: tensorflow in /usr/lib/python3/dist-packages (2.20.0)
      ModuleNotFoundError: No module named 'tensorflow'
    - It works in the terminal and not in the notebook
Cause:
    Each interpreter and each virtual environment has its own packages. python, pip and the notebook's kernel can belong to three
    different ones, or the environment was not activated.
Verify:
    python -c 'import sys, tensorflow; print(sys.executable)' prints the intended interpreter.
Unless:
    This interpreter is not the one that trains: select the right one with --python.
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

import re

from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.combiners.keras_backend import KerasBackend
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.model import Assignment, Finding, Fix, Fixes, Operation, Scope, Skip, rule, saw
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import statement, word


@rule(
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
    first_check="which Python runs the program, and its pip list",
)
def check(
    presence: GpuPresence, build: TensorFlowBuild, backend: KerasBackend | None, interpreter: Interpreter, context: Context
) -> Finding | Skip | None:
    """Report that only another environment on PATH has TensorFlow; the shell's active environment comes first."""
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
    return Finding(
        summary=f"{interpreter.executable} has no TensorFlow; {other.tensorflow} is installed for {other.executable}{more}.",
        evidence=saw(interpreter, "executable", *(f"others[{place}]" for place in others)),
        fix=repairs(context, executable=other.executable, gpu=bool(presence.present and build.cuda_wheels)),
    )


def repairs(context: Context, *, executable: str = "", path: str = "", gpu: bool = False) -> Fixes:
    """Use the Python with TensorFlow, or install TensorFlow for the Python that runs the program.

    Args:
        context: what is known about the machine.
        executable: the interpreter with TensorFlow, on a live machine.
        path: the folder with TensorFlow, in a log: ".../python3.10/site-packages".
        gpu: whether there is a GPU for which pip has packages.
    """
    here = context.with_cuda() if gpu else Fix(text="Install it for this Python", command=context.pip("tensorflow"))
    if executable:
        folder, _, name = executable.rpartition("/")
        first = statement(Assignment(variable="PATH", operation=Operation.PREPEND, value=folder, reason=""))
        text = f"Run your program with {executable}"
        yield (
            Fix(text=f"{text}: put its folder first in PATH", command=first) if name in ("python", "python3") else Fix(text=text)
        )
        yield here.after("Or here too:")
        yield Fix.look("Check the other Python", f"gpucheck --python {word(executable)}")
        return
    yield here
    if found := re.search(r"python(3\.\d+)", path):
        yield Fix(text=f"Or run your program with python{found[1]}, which has it")
    else:
        yield Fix(text="Or run your program with the interpreter that has it (in a notebook, choose that kernel)")
    show = f'{context.python} -c "import sys; print(sys.executable)" && {context.python} -m pip --version'
    yield Fix.look("Check which Python this is, and which one pip belongs to", show)
