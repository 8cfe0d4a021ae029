"""The Pythons of this machine that could hold an environment: on PATH, and those of pyenv, uv and conda."""

import glob
from collections.abc import Iterator
from typing import NamedTuple

from gpucheck.core.host import Host
from gpucheck.core.host.pythons import is_shims, minor, path_folders
from gpucheck.core.solver.machine import Python
from gpucheck.core.system.bounded import NoAnswer, within

ASKED_MAX = 24  # interpreters that are started
ANSWER_SECONDS = 5.0
PLACE_SECONDS = 2.0  # how long a folder is waited for; an automounter may take more, but several of them may not answer
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
_ELSEWHERE = (
    "/opt/conda/bin/python",
    "/opt/conda/envs/*/bin/python",
    "/Library/Frameworks/Python.framework/Versions/3*/bin/python3",
)


class Found(NamedTuple):
    """The Pythons that TensorFlow could have packages for, each once: CPython of 64 bits with its global lock."""

    pythons: tuple[Python, ...]
    silent: tuple[str, ...]  # folders that could not be looked into: their file systems do not answer


def find(host: Host) -> Found:
    """Look at every place where Pythons lie, as long as there is time."""
    silent = list[str]()
    kept: dict[str, Python] = {}
    for number, path in enumerate(_distinct(host, silent)):
        if number == ASKED_MAX:
            break
        python = ask(host, path)
        if python is not None:
            kept.setdefault(python.version, python)
    return Found(tuple(kept.values()), tuple(silent))


def ask(host: Host, path: str) -> Python | None:
    """What an interpreter says of itself; None for one that does not answer, or that TensorFlow has no packages for.

    Without ``site``, which executes the .pth files of its packages: another user can have written those.
    """
    answer = host.run([path, "-I", "-S", "-c", _CODE], timeout=ANSWER_SECONDS)
    words = answer.stdout.split()
    if len(words) != 5 or words[0] != "cpython" or words[2:4] != ["True", "True"]:
        return None
    return Python(version=words[1], executable=path, has_venv=words[4] == "True")


def _distinct(host: Host, silent: list[str]) -> Iterator[str]:
    """Paths of interpreters, each file once, however many links lead to it."""
    visited = set()
    for folder, patterns in _places(host):
        try:
            candidates = within(min(PLACE_SECONDS, max(0.0, host.remaining() / 2)), _candidates, host, patterns)
        except NoAnswer:
            silent.append(folder)
            continue
        for real, path in candidates:
            if real not in visited:
                visited.add(real)
                yield path


def _candidates(host: Host, patterns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each file's real path, and its path."""
    paths = [path for pattern in patterns for path in host.glob(pattern) if minor(path.rpartition("/")[2]) is not None]
    return [(host.real(path), path) for path in paths if host.stat(path) is not None]


def _places(host: Host) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Folders, with patterns of what is looked for there: the shell's own Pythons, then those that other programs installed."""
    for folder in path_folders(host):
        if not is_shims(folder):  # their versions are below
            yield folder, (f"{glob.escape(folder)}/python*",)
    home = host.env.get("HOME", "")
    root = host.env.get("PYENV_ROOT") or f"{home}/.pyenv"
    yield root, (f"{root}/versions/*/bin/python3",)
    own = host.env.get("UV_PYTHON_INSTALL_DIR")
    if own:
        yield own, (f"{own}/*/bin/python3",)
    if home:
        yield home, tuple(f"{home}/{path}" for path in _IN_HOME)
    yield "/opt", _ELSEWHERE
