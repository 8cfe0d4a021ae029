"""The command that installs the packages of an extra into this installation, whether or not a release is published."""

import os
import shutil
import sys
from importlib.util import find_spec

from gpucheck.cli import examined
from gpucheck.core.system.shells import word

PACKAGES = {"html": ("jinja2",), "plot": ("matplotlib",), "ray": ("ray",)}  # as in pyproject.toml


def command(extra: str) -> str:
    """Return what to type, for pipx, uv or pip; what to do instead for ``gpucheck.pyz``, to which nothing can be added."""
    packages = PACKAGES[extra]
    if examined.in_one_file():
        return f"gpucheck.pyz has no extras; install gpucheck and {' and '.join(packages)} with pip, pipx or uv"
    names = " ".join(packages)
    if examined.in_uvx_cache(sys.prefix):
        return f"uvx {' '.join(f'--with {name}' for name in packages)}, before the other options"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx inject {word(os.path.basename(sys.prefix))} {names}"
    if find_spec("pip") is None and shutil.which("uv") is not None:
        return f"uv pip install --python {word(sys.executable)} {names}"
    return f"{word(sys.executable)} -m pip install {names}"
