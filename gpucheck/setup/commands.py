"""What to type for a choice: commands for a POSIX shell, which make a new environment and install into it."""

from gpucheck.advice.shells import word
from gpucheck.compat import versions
from gpucheck.model import Assignment, Operation
from gpucheck.setup.answer import Choice
from gpucheck.setup.machine import Machine
from gpucheck.setup.solve import is_fetched

FOLDER = "~/tensorflow-env"


def environment_python(folder: str, system: str) -> str:
    """The interpreter of an environment."""
    return f"{folder}\\Scripts\\python.exe" if system == "win32" else f"{folder}/bin/python"


def installs(choice: Choice) -> tuple[tuple[tuple[str, ...], str | None], ...]:
    """What is installed, one step after the other: packages, and the index that has them if it is not pip's own.

    PyTorch's index has no Keras, and beside pip's own index it would lose to a newer build for another CUDA.
    """
    if choice.index is None:
        return ((choice.packages, None),)
    return ((choice.packages, choice.index), (("keras",), None))


def make(choice: Choice, machine: Machine, folder: str = FOLDER) -> tuple[str, ...]:
    """The commands that make the environment, in order."""
    if choice.source == "image":
        return (f"docker run --gpus all -it --rm {choice.image}",)
    minor = versions.minor(choice.python.version)
    target = word(environment_python(folder, machine.system))
    python = choice.python.executable or f"python{minor}"
    if machine.uv or is_fetched(choice.python, machine):
        make_it, install = (
            f"uv venv --python {word(choice.python.executable or minor)} {word(folder)}",
            f"uv pip install --python {target}",
        )
    else:
        make_it, install = f"{word(python)} -m venv {word(folder)}", f"{target} -m pip install"
    lines = [make_it]
    for packages, index in installs(choice):
        lines.append(" ".join([install, *map(word, packages), *([f"--index-url {index}"] if index else [])]))
    return (*lines, *(export(assignment, folder) for assignment in choice.assignments))


def check(choice: Choice, machine: Machine, folder: str = FOLDER) -> str:
    """The command that proves the environment."""
    if choice.source == "image":
        return "gpucheck"
    target = word(environment_python(folder, machine.system))
    more = [] if choice.backend == "tensorflow" else [f"--backend {choice.backend}"]
    if trains_on_cpu(choice):
        more.append("--allow-cpu")
    return " ".join(["gpucheck", "--python", target, *more])


def trains_on_cpu(choice: Choice) -> bool:
    """Whether the choice has no accelerator."""
    return choice.cuda is None and not any("tpu" in package for package in choice.packages)


def export(assignment: Assignment, folder: str) -> str:
    """The line that makes an assignment for an environment in a folder."""
    value = assignment.value.replace("{environment}", folder.replace("~", "$HOME", 1))
    name = assignment.variable
    if assignment.operation is Operation.PREPEND:
        value += f"${{{name}:+{assignment.separator}${name}}}"
    return f'export {name}="{value}"'
