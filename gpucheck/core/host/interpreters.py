"""Where Python interpreters may be installed: environments, the folders on PATH, and the folders of installers."""

import glob
import re
from collections.abc import Iterator
from typing import NamedTuple

from gpucheck.core.host import Host

_NAME = r"python(?:3(?:\.(\d+))?)?(?:\.exe)?"
_WITHOUT_PATH = "/usr/local/bin:/usr/bin"
_IN_HOME = (
    ".local/share/uv/python/*/bin/python3",
    *(
        f"{name}/{where}"
        for name in ("miniconda3", "anaconda3", "miniforge3", "mambaforge")
        for where in ("bin/python", "envs/*/bin/python")
    ),
)
_ELSEWHERE = (
    "/opt/conda/bin/python",
    "/opt/conda/envs/*/bin/python",
    "/Library/Frameworks/Python.framework/Versions/3*/bin/python3",
)


class Place(NamedTuple):
    """A folder, and the patterns of the interpreters in it."""

    folder: str
    patterns: tuple[str, ...]


def minor(name: str) -> str | None:
    """Return the version in an interpreter's file name: "3.12"; "" for python and python3; None for any other file."""
    match = re.fullmatch(_NAME, name)
    return None if match is None else f"3.{match[1]}" if match[1] else ""


def find(host: Host, place: Place) -> list[str]:
    """Return the paths of the interpreters in one place."""
    return [path for pattern in place.patterns for path in host.glob(pattern) if minor(path.rpartition("/")[2]) is not None]


def environments(host: Host) -> Iterator[Place]:
    """Yield the shell's active environment, and those of the current folder."""
    here = host.real(".")
    for folder in (host.env.get("VIRTUAL_ENV"), host.env.get("CONDA_PREFIX"), f"{here}/.venv", f"{here}/venv"):
        if folder:
            yield Place(folder, (f"{glob.escape(folder)}/{'Scripts/python.exe' if host.platform == 'win32' else 'bin/python'}",))


def on_path(host: Host) -> Iterator[Place]:
    """Yield the folders on PATH, in order. Each of pyenv's shims starts one of pyenv's versions, so yield those instead."""
    folders = (host.env.get("PATH") or _WITHOUT_PATH).split(";" if host.platform == "win32" else ":")
    for folder in dict.fromkeys(folders):
        if folder.rstrip("/").endswith("/shims"):
            versions = f"{folder.rstrip('/').rpartition('/')[0]}/versions"
            yield Place(versions, (f"{glob.escape(versions)}/*/bin/python",))
        elif folder:
            yield Place(folder, (f"{glob.escape(folder)}/python*",))


def of_installers(host: Host) -> Iterator[Place]:
    """Yield the folders in which pyenv, uv, conda and python.org's installer put interpreters."""
    home = host.env.get("HOME", "")
    pyenv = host.env.get("PYENV_ROOT") or (f"{home}/.pyenv" if home else None)
    if pyenv:
        yield Place(pyenv, (f"{glob.escape(pyenv)}/versions/*/bin/python3",))
    uv = host.env.get("UV_PYTHON_INSTALL_DIR")
    if uv:
        yield Place(uv, (f"{glob.escape(uv)}/*/bin/python3",))
    if home:
        yield Place(home, tuple(f"{glob.escape(home)}/{path}" for path in _IN_HOME))
    yield Place("/opt", _ELSEWHERE)
