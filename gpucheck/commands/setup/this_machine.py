"""The context of an answer besides the machine: a free folder, installed packages, and the project in the current folder."""

import os
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from gpucheck.commands.setup.full_answer import solve
from gpucheck.commands.setup.project import Found, examine
from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.compat import versions
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.host import Host
from gpucheck.core.host.child import PACKAGE
from gpucheck.core.probes.packages import Packages
from gpucheck.core.solver.answer import Answer, Choice
from gpucheck.core.solver.commands import FOLDER, WINDOWS_FOLDER
from gpucheck.core.solver.machine import Machine, Python, Requirements
from gpucheck.core.solver.solve import uses_gpu
from gpucheck.core.system.bounded import NoResponse, with_timeout

_APT = ("Debian", "Ubuntu", "Linux Mint", "Pop!_OS")
_UV = 'curl -LsSf https://astral.sh/uv/install.sh | sh && export PATH="$HOME/.local/bin:$PATH"'  # https://docs.astral.sh/uv/getting-started/installation

PLACE_SECONDS = 2.0
_MOST = 99  # maximum number of numbered folders


class Place(NamedTuple):
    """Where the commands create the environment."""

    folder: str  # as in commands: "~/tensorflow-env"
    remark: str | None = None  # why not the default folder
    free_bytes: int | None = None  # of its file system


class Installed(NamedTuple):
    """An installed combination that works on this machine."""

    title: str  # "TensorFlow 2.21.0, Python 3.11.7"
    folder: str  # of the environment
    choice: Choice  # the solver's, with the variables that it needs


class Here(msgspec.Struct, frozen=True, kw_only=True):
    """Details of an answer that are known only for this machine; the defaults are for another machine (--for)."""

    place: Place | None = None
    options: tuple[str, ...] = ()  # options of this call, for the printed --apply
    before: tuple[str, ...] = ()  # commands to run first
    package: str | None = None  # the folder of gpucheck's package
    installed: Installed | None = None
    project: tuple[Found, ...] = ()
    excluding: str | None = None  # the options that exclude everything: "--python 3.14"


def look(
    host: Host,
    answer: Answer,
    requirements: Requirements,
    packages: Packages | None,
    options: tuple[str, ...],
    excluding: str | None,
) -> Here:
    """Examine this machine's folders.

    Args:
        host: this machine.
        answer: the answer for this machine.
        requirements: the user's requirements.
        packages: packages of the examined environment.
        options: options of this call, as words of a command.
        excluding: see ``Here``.
    """
    machine, current = answer.machine, _current()
    return Here(
        place=choose_folder(host),
        options=options,
        before=_before(host, answer),
        package=PACKAGE,
        installed=find_installed(machine, requirements, packages, host.interpreter()),
        project=examine(host, current, machine, requirements) if current else (),
        excluding=excluding,
    )


def _before(host: Host, answer: Answer) -> tuple[str, ...]:
    """Return the commands that must run before the others."""
    best, machine = answer.best, answer.machine
    if best is None or best.source != "pip" or machine.uv is not False:
        return ()
    if machine.lacks(best.python):
        return (_UV,) if machine.system != "win32" else ()
    if best.python.has_venv is False and (machine.os_name or "").startswith(_APT):
        minor = ".".join(best.python.version.split(".")[:2])
        return (f"{'' if host.user() == 0 else 'sudo '}apt install python{minor}-venv",)
    return ()


def choose_folder(host: Host) -> Place:
    """Return a folder that does not exist yet, and whose parent is writable."""
    usual = WINDOWS_FOLDER if host.platform == "win32" else FOLDER
    name = os.path.basename(usual)
    home = host.env.get("HOME", "")
    parents = [("~", home)] if usual == FOLDER and os.path.isabs(home) else []
    here = _current()
    parents += [(here if usual == FOLDER else "", here)] if here else []
    for shown, parent in parents:
        try:
            free = with_timeout(PLACE_SECONDS, _free_name, host, parent, name)
            room = with_timeout(PLACE_SECONDS, host.disk, parent)
        except NoResponse:
            continue
        if free is None:
            continue
        remark = None if shown != here else f"the folder is in {here}, because there is no writable home folder"
        if free != name:
            remark = f"{os.path.join(shown, name)} already exists, and is not changed"
        return Place(os.path.join(shown, free), remark, room.free_bytes if room else None)
    return Place(usual, f"{' and '.join(parent for _, parent in parents) or 'here'} cannot be written to: choose another folder")


def _current() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def _free_name(host: Host, parent: str, name: str) -> str | None:
    """Return a name that does not exist in a folder; None if the folder can't be written to."""
    if not host.writable(parent):
        return None
    names = (name, *(f"{name}-{number}" for number in range(2, _MOST + 1)))
    return next((free for free in names if not _exists(host, os.path.join(parent, free))), None)


def _exists(host: Host, path: str) -> bool:
    return host.stat(path) is not None or host.link(path) is not None


def find_installed(
    machine: Machine, requirements: Requirements, packages: Packages | None, python: Interpreter | str
) -> Installed | None:
    """Return the installed combination if the solver would choose it for this Python, and it is complete.

    Args:
        machine: this machine.
        requirements: the user's requirements.
        packages: packages of the environment; None: unknown.
        python: the environment's interpreter, or why it is unknown.
    """
    if packages is None or isinstance(python, str) or (packages.unmet or packages.damaged or packages.hidden):
        return None
    if requirements.python is not None and not versions.same_minor(requirements.python.version, python.version):
        return None
    if requirements.backend == "tensorflow":
        version = _tensorflow(packages, requirements)
    else:
        version = next((other.version for other in packages.others if other.name == requirements.backend), None)
    if version is None or packages.keras is None:
        return None
    own = Python(version=python.version, executable=python.executable)
    release = f"=={versions.minor(version)}.*" if requirements.backend == "tensorflow" else None
    answer = solve(replace(machine, pythons=(own,)), replace(requirements, tensorflow=release, python=own))
    choice = next((choice for choice in answer.choices if _has(packages, choice, version)), None)
    if choice is None or uses_gpu(machine, requirements) != (choice.cuda is not None):
        return None
    name = f"{TITLES[requirements.backend]} {version}"
    return Installed(f"{name}, Python {python.version}", python.prefix, choice)


def _tensorflow(packages: Packages, requirements: Requirements) -> str | None:
    """Return the version of the installed TensorFlow if it has no problem."""
    found = packages.tensorflow
    if found is None or found.name not in ("tensorflow", "tensorflow-cpu") or len(packages.flavours) > 1:
        return None
    satisfied = requirements.tensorflow is None or versions.satisfies(found.version, requirements.tensorflow)
    return found.version if satisfied else None


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
