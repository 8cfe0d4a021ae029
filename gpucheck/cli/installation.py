"""How this gpucheck was installed: the Python to examine by default, and how to add the packages of an extra.

Nothing trains in a separate tool environment (pipx, uv tool, uvx) or in one file (``gpucheck.pyz``).
"""

import functools
import os
import shutil
import sys
from importlib.util import find_spec

from gpucheck.cli.screen import say
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout
from gpucheck.core.system.shells import word

ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")
PACKAGES = {"html": ("jinja2",), "plot": ("matplotlib",), "ray": ("ray",)}  # as in pyproject.toml
_MADE_FOR_ONE_TOOL = ("pipx_metadata.json", "uv-receipt.toml")


def interpreter() -> str | None:
    """Return the Python of the active environment, or else the first on PATH; None: gpucheck's own.

    ``python3 gpucheck.pyz`` examines that python3 if no environment is active.
    """
    zipped = in_one_file()
    if not zipped and not _is_tool_environment(sys.prefix):
        return None
    return _active()[0] or (sys.executable if zipped else _find_python(os.environ.get("PATH", os.defpath)))


def active() -> str | None:
    """Return the Python of the active environment, even if gpucheck is installed elsewhere; otherwise as ``interpreter``."""
    return _active()[0] or interpreter()


@functools.cache
def report(python: str) -> None:
    """Print once, on standard error, which Python was chosen, unless it is the one that runs gpucheck."""
    if python != sys.executable:
        active, variable = _active()
        which = f"the active environment's ({variable})" if active == python else "the first on PATH"
        say(f"gpucheck: examining {python}, {which}; use --python PATH to choose another")


def extra_command(extra: str) -> str:
    """Return the command that installs the packages of an extra, whether or not a release is published.

    Nothing can be added to ``gpucheck.pyz``, so return what to do instead.
    """
    packages = PACKAGES[extra]
    if in_one_file():
        return f"gpucheck.pyz has no extras; install gpucheck and {' and '.join(packages)} with pip, pipx or uv"
    names = " ".join(packages)
    if in_uvx_cache(sys.prefix):
        return f"uvx {' '.join(f'--with {name}' for name in packages)}, before the other options"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx inject {word(os.path.basename(sys.prefix))} {names}"
    if find_spec("pip") is None and shutil.which("uv") is not None:
        return f"uv pip install --python {word(sys.executable)} {names}"
    return f"{word(sys.executable)} -m pip install {names}"


def _active() -> tuple[str | None, str]:
    for variable in ACTIVE:
        prefix = os.environ.get(variable)
        if prefix and (python := _find_python(os.path.join(prefix, "Scripts" if os.name == "nt" else "bin"))) is not None:
            return python, variable
    return None, ""


def in_one_file() -> bool:
    """Whether gpucheck runs from a zip file, as ``zipapp`` and ``shiv`` build them."""
    return type(getattr(sys.modules.get("__main__"), "__loader__", None)).__name__ == "zipimporter"


def _is_tool_environment(prefix: str) -> bool:
    """Whether pipx, ``uv tool`` or ``uvx`` created the environment."""
    return in_uvx_cache(prefix) or any(os.path.exists(os.path.join(prefix, name)) for name in _MADE_FOR_ONE_TOOL)


def in_uvx_cache(prefix: str) -> bool:
    """Whether ``uvx`` created the environment in its cache, for one run."""
    return os.path.basename(os.path.dirname(prefix)).startswith("archive-v")


def _find_python(folders: str) -> str | None:
    for name in ("python3", "python"):
        try:
            found = with_timeout(FILE_SECONDS, shutil.which, name, os.F_OK | os.X_OK, folders)
        except NoResponse:
            return None
        if found is not None:
            return os.path.abspath(found)
    return None
