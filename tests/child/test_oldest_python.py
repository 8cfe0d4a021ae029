"""Modules that run in children can be imported by the oldest Python that gpucheck examines."""

import glob
import os
import pathlib
import subprocess

import pytest

import gpucheck
from gpucheck.core.host.child import OLDEST

ROOT = pathlib.Path(gpucheck.__file__).parent
VERSION = ".".join(map(str, OLDEST))
IMPORTS = """
import importlib, sys
package = type(sys)("gpucheck")
package.__path__ = [sys.argv[1]]
sys.modules["gpucheck"] = package
for name in ["gpucheck.core.child.boot", *sys.argv[2:]]:
    importlib.import_module(name)
"""


def test_every_module_of_the_children_can_be_imported():
    pythons = [*glob.glob(os.path.expanduser(f"~/.pyenv/versions/{VERSION}.*/bin/python")), f"/usr/bin/python{VERSION}"]
    python = next(filter(os.path.exists, pythons), None)
    if python is None:
        pytest.skip(f"Python {VERSION} is not installed")
    files = [path for folder in ("core/child", "core/training") for path in (ROOT / folder).rglob("*.py")]
    names = [".".join(("gpucheck", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__") for path in files]
    assert len(names) > 50
    done = subprocess.run([python, "-c", IMPORTS, ROOT, *sorted(names)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
