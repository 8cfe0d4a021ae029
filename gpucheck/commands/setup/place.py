"""Choose the new folder that the printed commands create: in the home folder, else in the current one."""

import os
from typing import NamedTuple

from gpucheck.core.host import Host
from gpucheck.core.solver.commands import FOLDER, WINDOWS_FOLDER
from gpucheck.core.system.bounded import NoResponse, with_timeout

PLACE_SECONDS = 2.0
_MOST = 99  # folders with a number


class Place(NamedTuple):
    """Where the commands create the environment."""

    folder: str  # as in commands: "~/tensorflow-env"
    remark: str | None = None  # why not the default folder
    free_bytes: int | None = None  # of its file system


def choose(host: Host) -> Place:
    """Return a folder that does not exist yet, and whose parent can be written to."""
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
        remark = None if shown != here else f"the folder is in {here}: there is no home folder that can be written to"
        if free != name:
            remark = f"{os.path.join(shown, name)} exists already, and is not changed"
        return Place(os.path.join(shown, free), remark, room.free_bytes if room else None)
    return Place(usual, f"{' and '.join(parent for _, parent in parents) or 'here'} cannot be written to: name another folder")


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
