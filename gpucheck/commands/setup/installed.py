"""Check whether the examined environment already has the solver's choice, so that nothing needs to be installed."""

from typing import NamedTuple

from msgspec.structs import replace

from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.compat import versions
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import Assignment
from gpucheck.core.probes.packages import Packages
from gpucheck.core.solver.answer import Choice
from gpucheck.core.solver.machine import Machine, Python, Wishes
from gpucheck.core.solver.solve import solve, uses_gpu


class Installed(NamedTuple):
    """An installed combination that works on this machine."""

    title: str  # "TensorFlow 2.21.0, Python 3.11.7"
    folder: str  # of the environment
    choice: Choice  # the solver's choice
    assignments: tuple[Assignment, ...]  # required variables


def fits(machine: Machine, wishes: Wishes, packages: Packages | None, python: Interpreter | str) -> Installed | None:
    """Return the installed combination if the solver would choose it for this Python, and it is complete.

    Args:
        machine: this machine.
        wishes: the user's.
        packages: of the environment; None: unknown.
        python: its interpreter, or why it is unknown.
    """
    if packages is None or isinstance(python, str) or (packages.unmet or packages.damaged or packages.hidden):
        return None
    if wishes.python is not None and not versions.same_minor(wishes.python.version, python.version):
        return None
    version = _tensorflow(packages, wishes) if wishes.backend == "tensorflow" else _backend_version(packages, wishes.backend)
    if version is None or packages.keras is None:
        return None
    own = Python(version=python.version, executable=python.executable)
    release = f"=={versions.minor(version)}.*" if wishes.backend == "tensorflow" else None
    answer = solve(replace(machine, pythons=(own,)), replace(wishes, tensorflow=release, python=own))
    choice = next((choice for choice in answer.choices if _has(packages, choice, version)), None)
    if choice is None or uses_gpu(machine, wishes) != (choice.cuda is not None):
        return None
    name = f"{TITLES[wishes.backend]} {version}"
    return Installed(f"{name}, Python {python.version}", python.prefix, choice, choice.assignments)


def _tensorflow(packages: Packages, wishes: Wishes) -> str | None:
    """Return the version of the installed TensorFlow if it has no problem."""
    found = packages.tensorflow
    if found is None or found.name not in ("tensorflow", "tensorflow-cpu") or len(packages.flavours) > 1:
        return None
    wanted = wishes.tensorflow is None or versions.satisfies(found.version, wishes.tensorflow)
    return found.version if wanted else None


def _backend_version(packages: Packages, backend: str) -> str | None:
    return next((other.version for other in packages.others if other.name == backend), None)


def _has(packages: Packages, choice: Choice, version: str) -> bool:
    """Whether the CUDA libraries of a choice are installed."""
    if choice.source != "pip" or choice.cuda is None:
        return choice.source == "pip"
    if choice.backend == "tensorflow":
        required = packages.and_cuda
        return bool(required) and all(entry.satisfied for entry in required if not entry.name.startswith("tensorrt"))
    if choice.backend == "jax":
        plugin = f"jax-cuda{choice.cuda.partition('.')[0]}-plugin"
        return any(other.name == plugin for other in packages.others)
    return choice.index is not None and version.endswith(f"+{choice.index.rpartition('/')[2]}")
