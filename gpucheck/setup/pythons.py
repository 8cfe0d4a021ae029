"""The Pythons of this machine that could hold an environment: on PATH, and those of pyenv, uv and conda."""

import re
from collections.abc import Iterator

from gpucheck.host import Host
from gpucheck.setup.machine import Python

ASKED_MAX = 24  # interpreters that are started
ANSWER_SECONDS = 5.0
_NAME = re.compile(r"python(3(\.\d+)?)?(\.exe)?")
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


def find(host: Host) -> tuple[Python, ...]:
    """Every Python that TensorFlow could have packages for, each once: CPython of 64 bits with its global lock."""
    kept: dict[str, Python] = {}
    for number, path in enumerate(_distinct(host)):
        if number == ASKED_MAX:
            break
        python = ask(host, path)
        if python is not None:
            kept.setdefault(python.version, python)
    return tuple(kept.values())


def ask(host: Host, path: str) -> Python | None:
    """What an interpreter says of itself; None for one that does not answer, or that TensorFlow has no packages for."""
    answer = host.run([path, "-I", "-c", _CODE], timeout=ANSWER_SECONDS)
    words = answer.stdout.split()
    if len(words) != 5 or words[0] != "cpython" or words[2:4] != ["True", "True"]:
        return None
    return Python(version=words[1], executable=path, has_venv=words[4] == "True")


def _distinct(host: Host) -> Iterator[str]:
    """Paths of interpreters, each file once, however many links lead to it."""
    visited = set()
    for path in _candidates(host):
        real = host.real(path)
        if real not in visited and host.stat(path) is not None:
            visited.add(real)
            yield path


def _candidates(host: Host) -> Iterator[str]:
    """The shell's own Pythons, then those that other programs installed."""
    for folder in host.env.get("PATH", "").split(";" if host.platform == "win32" else ":"):
        if folder and not folder.endswith("/shims"):  # pyenv's, which stand for its versions below
            yield from (f"{folder}/{name}" for name in host.names(folder) if _NAME.fullmatch(name))
    home = host.env.get("HOME", "")
    root = host.env.get("PYENV_ROOT") or f"{home}/.pyenv"
    yield from host.glob(f"{root}/versions/*/bin/python3")
    own = host.env.get("UV_PYTHON_INSTALL_DIR")
    yield from host.glob(f"{own}/*/bin/python3") if own else ()
    for pattern in (*(f"{home}/{path}" for path in _IN_HOME if home), *_ELSEWHERE):
        yield from host.glob(pattern)
