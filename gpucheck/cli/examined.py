"""Which Python is examined where none is named and gpucheck lies apart from every program: in an environment that pipx or uv
made for it alone, or in one file (``gpucheck.pyz``). Nobody trains there.
"""

import functools
import os
import shutil
import sys

from gpucheck.cli.screen import say
from gpucheck.core.system.bounded import FILE_SECONDS, NoAnswer, within

ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX")
_MADE_FOR_ONE_TOOL = ("pipx_metadata.json", "uv-receipt.toml")


def interpreter() -> str | None:
    """The Python of the active environment, else the first on PATH; None: our own.

    A file that is started by a Python (``python3 gpucheck.pyz``) examines that Python, if no environment is active.
    """
    alone = in_one_file()
    if not alone and not _is_a_tools(sys.prefix):
        return None
    return _active()[0] or (sys.executable if alone else _program(os.environ.get("PATH", os.defpath)))


@functools.cache
def tell(python: str) -> None:
    """Say once, on standard error, which Python was chosen, unless it is the one that runs us."""
    if python != sys.executable:
        active, variable = _active()
        which = f"of the active environment ({variable})" if active == python else "the first on PATH"
        say(f"gpucheck: examining {python}, {which}; --python PATH names another")


def _active() -> tuple[str | None, str]:
    for variable in ACTIVE:
        prefix = os.environ.get(variable)
        if prefix and (python := _program(os.path.join(prefix, "Scripts" if os.name == "nt" else "bin"))) is not None:
            return python, variable
    return None, ""


def in_one_file() -> bool:
    """Whether Python was started with a zip file, as ``zipapp`` and ``shiv`` make them."""
    return type(getattr(sys.modules.get("__main__"), "__loader__", None)).__name__ == "zipimporter"


def _is_a_tools(prefix: str) -> bool:
    """Whether pipx, ``uv tool`` or ``uvx`` made the environment; the last keeps them in its cache."""
    if any(os.path.exists(os.path.join(prefix, name)) for name in _MADE_FOR_ONE_TOOL):
        return True
    return from_a_cache(prefix)


def from_a_cache(prefix: str) -> bool:
    """Whether ``uvx`` made the environment for one run."""
    return os.path.basename(os.path.dirname(prefix)).startswith("archive-v")


def _program(folders: str) -> str | None:
    for name in ("python3", "python"):
        try:
            found = within(FILE_SECONDS, shutil.which, name, os.F_OK | os.X_OK, folders)
        except NoAnswer:
            return None
        if found is not None:
            return os.path.abspath(found)
    return None
