"""The environment of a choice: made in a new folder, then proven by gpucheck, which trains in it.

The folder is new, or nothing is done. Whatever ends the work before the proof, an error, a limit or a signal, removes it again.
"""

import contextlib
import os
import shutil

from gpucheck.commands.setup.proof import Proof, prove
from gpucheck.commands.setup.steps import Screen, run
from gpucheck.core.compat import versions
from gpucheck.core.host import Host
from gpucheck.core.model import Assignment
from gpucheck.core.repairs.install import install
from gpucheck.core.repairs.shells import applied
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Answer, Choice
from gpucheck.core.solver.solve import is_fetched
from gpucheck.core.system.bounded import NoAnswer, within

REMOVE_SECONDS = 45.0
GIB = 1 << 30
ROOM_BYTES = {True: 3 * GIB, False: 9 * GIB}  # of an environment for the CPU, and of one with CUDA's libraries


class Refused(Exception):
    """It was not begun; the message says why, in one line."""


def apply(answer: Answer, folder: str, host: Host, screen: Screen, deadline: float) -> Proof:
    """Make the best choice's environment and prove it.

    Args:
        answer: it has a choice.
        folder: where; it must not exist, and its parent must.
        host: this machine.
        screen: where the work is shown.
        deadline: ``time.monotonic()`` by which everything is done.

    Raises:
        Refused: nothing was begun.
        Failed: it did not go well, and nothing is left of it.
    """
    choice = answer.choices[0]
    path = os.path.abspath(os.path.expanduser(folder))
    steps = _steps(answer, choice, path, host)
    _make_folder(path, choice, host)
    try:
        for number, (title, argv) in enumerate(steps, 1):
            screen.say(f"[{number}/{len(steps) + 1}] {title}")
            run(argv, host.env, screen, deadline)
        assignments = tuple(_in_folder(assignment, path) for assignment in choice.assignments)
        if assignments:
            install(assignments, path, "venv")
        screen.say(f"[{len(steps) + 1}/{len(steps) + 1}] Checking it: gpucheck trains in it")
        inside = commands.environment_python(path, answer.machine.system)
        return prove(choice, inside, dict(applied(assignments, host.env)), screen, deadline)
    except BaseException:
        _remove(path, screen)
        raise


def _steps(answer: Answer, choice: Choice, path: str, host: Host) -> list[tuple[str, list[str]]]:
    """What is run, each with its title."""
    if choice.source == "image":
        raise Refused(f"only NVIDIA's image fits this machine, no environment does: {commands.make(choice, answer.machine)[0]}")
    minor = versions.minor(choice.python.version)
    fetched = is_fetched(choice.python, answer.machine)
    uv = host.which("uv")
    if fetched and uv is None:
        raise Refused(
            f"Python {minor} is not on this machine, and neither is uv, which would fetch it: https://docs.astral.sh/uv"
        )
    if choice.python.has_venv is False and uv is None:
        raise Refused(f"Python {minor} cannot make environments here: install its package python{minor}-venv first, or uv")
    # Steps start in another folder, from which a relative path, as a relative folder of PATH gives it, leads elsewhere.
    uv = os.path.abspath(uv) if uv else None
    python = os.path.abspath(choice.python.executable) if choice.python.executable else minor
    inside = commands.environment_python(path, answer.machine.system)
    make = [uv, "venv", "--python", python, path] if uv else [python, "-I", "-S", "-m", "venv", path]
    steps = [(f"Making an environment with Python {choice.python.version} in {path}", make)]
    for packages, index in commands.installs(choice):
        pip = (
            [uv, "pip", "install", "--python", inside]
            if uv
            else [inside, "-I", "-m", "pip", "install", "--no-input", "--progress-bar=off"]
        )
        steps.append((f"Installing {', '.join(packages)}", [*pip, *packages, *(["--index-url", index] if index else [])]))
    return steps


def _make_folder(path: str, choice: Choice, host: Host) -> None:
    """Make the new folder, which is ours from then on."""
    parent = os.path.dirname(path)
    try:
        room = within(5.0, host.disk, parent)
        needed = ROOM_BYTES[commands.trains_on_cpu(choice)]
        if room is not None and room.free_bytes < needed:
            free = f"{room.free_bytes / GIB:.1f} GiB are free in {parent}"
            raise Refused(f"{free}, and the environment needs about {needed / GIB:.0f} GiB")
        within(5.0, os.mkdir, path)
    except NoAnswer as error:
        raise Refused(f"{parent} does not answer: {error.strerror}") from None
    except FileExistsError:
        raise Refused(f"{path} exists; an environment is only made in a new folder") from None
    except (OSError, ValueError) as error:
        raise Refused(f"cannot make {path}: {getattr(error, 'strerror', None) or error}") from None


def _in_folder(assignment: Assignment, path: str) -> Assignment:
    value = assignment.value.replace("{environment}", path)
    return Assignment(variable=assignment.variable, operation=assignment.operation, value=value, reason=assignment.reason)


def _remove(path: str, screen: Screen) -> None:
    """Remove what was begun; a signal must not cut that short."""
    with screen.held_off():
        with contextlib.suppress(NoAnswer):
            within(REMOVE_SECONDS, shutil.rmtree, path, True)
        if os.path.lexists(path):
            screen.say(f"gpucheck: {path} could not be removed")
