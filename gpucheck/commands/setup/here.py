"""The context of an answer besides the machine: a free folder, installed packages, and the project in the current folder."""

import os

from gpucheck.commands.setup import installed, place, project
from gpucheck.commands.setup.render import Here
from gpucheck.core.host import Host
from gpucheck.core.host.child import PACKAGE
from gpucheck.core.probes.packages import Packages
from gpucheck.core.solver.answer import Answer
from gpucheck.core.solver.machine import Wishes

_APT = ("Debian", "Ubuntu", "Linux Mint", "Pop!_OS")
_UV = "curl -LsSf https://astral.sh/uv/install.sh | sh"  # https://docs.astral.sh/uv/getting-started/installation


def look(
    host: Host, answer: Answer, wishes: Wishes, packages: Packages | None, options: tuple[str, ...], asked: str | None
) -> Here:
    """Examine this machine's folders.

    Args:
        host: this machine.
        answer: for it.
        wishes: the user's.
        packages: of the examined environment.
        options: of this call, as words of a command.
        asked: see ``Here``.
    """
    machine = answer.machine
    try:
        found = project.examine(host, os.getcwd(), machine, wishes)
    except OSError:  # the current folder was removed
        found = ()
    return Here(
        place=place.choose(host),
        options=options,
        before=_before(host, answer),
        package=PACKAGE,
        installed=installed.fits(machine, wishes, packages, host.interpreter()),
        project=found,
        asked=asked,
    )


def _before(host: Host, answer: Answer) -> tuple[str, ...]:
    """Return the commands that the others require."""
    best, machine = answer.best, answer.machine
    if best is None or best.source != "pip" or machine.uv is not False:
        return ()
    if machine.lacks(best.python):
        return (_UV,) if machine.system != "win32" else ()
    if best.python.has_venv is False and (machine.os_name or "").startswith(_APT):
        minor = ".".join(best.python.version.split(".")[:2])
        return (f"{'' if host.user() == 0 else 'sudo '}apt install python{minor}-venv",)
    return ()
