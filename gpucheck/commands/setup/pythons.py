"""Find the Pythons of this machine to create an environment with: on PATH, and those of pyenv, uv and conda."""

import glob
from collections.abc import Iterator
from typing import NamedTuple

from gpucheck.core.host import Host
from gpucheck.core.host.pythons import is_shims, minor, path_folders
from gpucheck.core.solver.machine import Python
from gpucheck.core.system.bounded import NoResponse, with_timeout

INSPECTED_MAX = 24  # interpreters to start
ANSWER_SECONDS = 5.0
PLACE_SECONDS = 2.0  # timeout for a folder; an automounter may take longer, but several folders may hang
_CODE = (
    "import sys, sysconfig, importlib.util as u; "
    "print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3], sys.maxsize > 2**32,"
    " not sysconfig.get_config_var('Py_GIL_DISABLED'), u.find_spec('ensurepip') is not None)"
)
_IN_HOME = (
    ".local/share/uv/python/*/bin/python3",
    *(
        f"{name}/{where}"
        for name in ("miniconda3", "anaconda3", "miniforge3", "mambaforge")
        for where in ("bin/python", "envs/*/bin/python")
    ),
)
_WITHOUT_PATH = ("/usr/local/bin", "/usr/bin")
_ELSEWHERE = (
    "/opt/conda/bin/python",
    "/opt/conda/envs/*/bin/python",
    "/Library/Frameworks/Python.framework/Versions/3*/bin/python3",
)


class Found(NamedTuple):
    """The Pythons that TensorFlow may have packages for, without duplicates: 64-bit CPython with the GIL."""

    pythons: tuple[Python, ...]
    silent: tuple[str, ...]  # folders on file systems that did not respond


def find(host: Host, own: str | None = None) -> Found:
    """Search all places where Pythons are installed, within the host's time limit.

    Args:
        host: the machine.
        own: the path of gpucheck's own Python, which is included even if no folder has it.
    """
    silent = list[str]()
    kept: dict[str, Python] = {}
    for number, path in enumerate(_distinct(host, silent, own)):
        if number == INSPECTED_MAX:
            break
        python = inspect(host, path)
        if python is not None:
            kept.setdefault(python.version, python)
    return Found(tuple(kept.values()), tuple(silent))


def inspect(host: Host, path: str) -> Python | None:
    """Run an interpreter to describe it; None if it fails, or if TensorFlow has no packages for it.

    It runs without ``site``, which would execute .pth files of its packages that another user may have written.
    """
    answer = host.run([path, "-I", "-S", "-c", _CODE], timeout=ANSWER_SECONDS)
    words = answer.stdout.split()
    if len(words) != 5 or words[0] != "cpython" or words[2:4] != ["True", "True"]:
        return None
    return Python(version=words[1], executable=path, has_venv=words[4] == "True")


def _distinct(host: Host, silent: list[str], own: str | None) -> Iterator[str]:
    """Yield the paths of interpreters; a file with several links only once."""
    visited = set()
    for folder, patterns in _places(host, own):
        try:
            candidates = with_timeout(min(PLACE_SECONDS, max(0.0, host.remaining() / 2)), _candidates, host, patterns)
        except NoResponse:
            silent.append(folder)
            continue
        for real, path in candidates:
            if real not in visited:
                visited.add(real)
                yield path


def _candidates(host: Host, patterns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the real path and the path of each file."""
    paths = [path for pattern in patterns for path in host.glob(pattern) if minor(path.rpartition("/")[2]) is not None]
    return [(host.real(path), path) for path in paths if host.stat(path) is not None]


def _places(host: Host, own: str | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield folders with the patterns to search in each: PATH first, then gpucheck's own, then other installers'."""
    for folder in path_folders(host) or _WITHOUT_PATH:
        if not is_shims(folder):  # their versions are below
            yield folder, (f"{glob.escape(folder)}/python*",)
    if own:
        yield own, (glob.escape(own),)
    home = host.env.get("HOME", "")
    root = host.env.get("PYENV_ROOT") or (f"{home}/.pyenv" if home else None)
    if root:
        yield root, (f"{root}/versions/*/bin/python3",)
    own = host.env.get("UV_PYTHON_INSTALL_DIR")
    if own:
        yield own, (f"{own}/*/bin/python3",)
    if home:
        yield home, tuple(f"{home}/{path}" for path in _IN_HOME)
    yield "/opt", _ELSEWHERE
