"""The commands for a choice: they create a new environment in a POSIX shell (on Windows: PowerShell and cmd)."""

import re

from gpucheck.core.compat import versions
from gpucheck.core.model import Assignment, Operation
from gpucheck.core.solver.answer import Choice
from gpucheck.core.solver.machine import Machine
from gpucheck.core.system.integrity import REQUIRED
from gpucheck.core.system.shells import word

FOLDER = "~/tensorflow-env"
CONDA_NAME = "tensorflow-env"
WINDOWS_FOLDER = "tensorflow-env"  # in the current folder: PowerShell and cmd don't expand ~ everywhere


def quoted(text: str, system: str) -> str:
    """Quote one word of a command."""
    if system == "win32":
        return f'"{text}"' if re.search(r"[^\w\\.:=/-]", text) else text
    return word(text)


def environment_python(folder: str, system: str) -> str:
    """Return the path of an environment's interpreter."""
    return f"{folder}\\Scripts\\python.exe" if system == "win32" else f"{folder}/bin/python"


def installs(choice: Choice) -> tuple[tuple[tuple[str, ...], str | None], ...]:
    """Return the install steps in order: packages, and their index if it is not pip's default.

    PyTorch's index has no Keras, and together with pip's default index pip would prefer a newer build for another CUDA.
    """
    if choice.steps:
        return choice.steps
    if choice.index is None:
        return ((choice.packages, None),)
    options = tuple(package for package in choice.packages if package.startswith("-"))
    return ((choice.packages, choice.index), ((*options, "keras"), None))


def make(choice: Choice, machine: Machine, folder: str | None = None) -> tuple[str, ...]:
    """Return the commands that create the environment, in order, and set its variables in the current shell."""
    folder = folder or default_folder(machine)
    exports = (export(assignment, folder, machine.system) for assignment in choice.assignments if choice.source != "image")
    return (*create(choice, machine, folder), *exports)


def create(choice: Choice, machine: Machine, folder: str) -> tuple[str, ...]:
    """Return the commands that create the environment, in order; for an image, the command that starts it."""
    if choice.source == "image":
        variables = "".join(f" -e {entry.variable}={entry.value}" for entry in choice.assignments)
        return (f'docker run {choice.run_options} -it --rm{variables} -v "$PWD":/work -w /work {choice.image}',)
    if choice.source == "conda":
        return _conda(choice, machine)
    system = machine.system
    minor = versions.minor(choice.python.version)
    target = quoted(environment_python(folder, system), system)
    if machine.uv or machine.lacks(choice.python):
        python = quoted(choice.python.executable or minor, system)
        lines, install = [f"uv venv --python {python} {quoted(folder, system)}"], f"uv pip install --python {target}"
    else:
        python = quoted(choice.python.executable or f"python{minor}", system)
        if system == "win32" and "\\" not in python:  # Python's installer for Windows does not make python3.12.exe
            python = f"py -{minor}"
        lines, install = [f"{python} -m venv {quoted(folder, system)}"], f"{target} -m pip install"
    for packages, index in installs(choice):
        words = [quoted(package, system) for package in packages]
        lines.append(" ".join([install, *words, *([f"--index-url {index}"] if index else [])]))
    return tuple(lines)


def _conda(choice: Choice, machine: Machine) -> tuple[str, ...]:
    """Return the commands that create conda's environment, which brings the CUDA libraries."""
    arguments = " ".join(quoted(package, machine.system) for package in choice.packages)
    return (
        f"conda create -y -n {CONDA_NAME} python={versions.minor(choice.python.version)}",
        f"conda activate {CONDA_NAME}",
        f"conda install -y -c conda-forge cudatoolkit={choice.cuda} cudnn={choice.cudnn}.0",
        f"python -m pip install {arguments}",
    )


def keep(choice: Choice, folder: str) -> tuple[str, ...]:
    """Return the commands that save the environment's variables in its ``bin/activate``."""
    script = word(f"{folder}/bin/activate")
    return tuple(f"echo '{export(assignment, '$VIRTUAL_ENV', 'linux')}' >> {script}" for assignment in choice.assignments)


def default_folder(machine: Machine) -> str:
    """Return the folder that the commands use if no other is given."""
    return WINDOWS_FOLDER if machine.system == "win32" else FOLDER


def check(choice: Choice, machine: Machine, folder: str | None = None, package: str | None = None) -> str:
    """Return the command that checks the environment, which need not be active, or the image.

    Args:
        choice: the installed choice.
        machine: where.
        folder: the environment's folder.
        package: the folder of gpucheck's own package, which an image gets from this machine; None: in the current folder.
    """
    more = [] if choice.backend == "tensorflow" else [f"--backend {choice.backend}"]
    if choice.source == "image":
        own = f"{word(package)}" if package else '"$PWD"/gpucheck'
        required = " ".join([*(["keras"] if more else []), *(name.replace("_", "-") for name in REQUIRED)])
        inside = " ".join([f"pip install -q {required} && PYTHONPATH=/opt/own python3 -m gpucheck", *more])
        return f"docker run {choice.run_options} --rm -v {own}:/opt/own/gpucheck:ro {choice.image} bash -c '{inside}'"
    if choice.source == "conda":
        return "gpucheck --python python"
    folder = folder or default_folder(machine)
    target = quoted(environment_python(folder, machine.system), machine.system)
    if trains_on_cpu(choice):
        more.append("--allow-cpu")
    searched = (entry for entry in choice.assignments if entry.operation is Operation.PREPEND)
    variables = [export(entry, folder, machine.system).removeprefix("export ") for entry in searched]
    return " ".join([*variables, "gpucheck", "--python", target, *more])


def activate(choice: Choice, folder: str, system: str) -> str:
    """Return the command that activates the environment in a terminal."""
    if choice.source == "conda":
        return f"conda activate {CONDA_NAME}"
    return quoted(f"{folder}\\Scripts\\activate", system) if system == "win32" else f". {word(f'{folder}/bin/activate')}"


def remove(choice: Choice, folder: str, system: str) -> str:
    """Return the command that removes the environment, in a POSIX shell or PowerShell."""
    if choice.source == "conda":
        return f"conda env remove -y -n {CONDA_NAME}"
    return f"rm -r {quoted(folder, system)}" if system == "win32" else f"rm -rf {word(folder)}"


def trains_on_cpu(choice: Choice) -> bool:
    """Whether the choice has no accelerator."""
    return choice.cuda is None and choice.source == "pip" and not any(_ACCELERATED.search(package) for package in choice.packages)


_ACCELERATED = re.compile("tpu|rocm")


def export(assignment: Assignment, folder: str, system: str) -> str:
    """Return the line that sets a variable for an environment in a folder; on Windows for PowerShell, only for plain values."""
    if system == "win32":
        return f'$env:{assignment.variable} = "{assignment.value}"'
    value = assignment.value.replace("{environment}", folder.replace("~", "$HOME", 1))
    name = assignment.variable
    if assignment.operation is Operation.PREPEND:
        value += f"${{{name}:+{assignment.separator}${name}}}"
    return f'export {name}="{value}"'
