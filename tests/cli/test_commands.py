"""Commands are independent of each other, and the core of all of them."""

import pathlib
import shutil
import subprocess
import sys

import pytest

import gpucheck

PACKAGE = pathlib.Path(gpucheck.__file__).parent
FOLDERS = sorted(path.name for path in (PACKAGE / "commands").iterdir() if path.is_dir() and path.name != "__pycache__")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Copy the package, so that folders can be removed."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "gpucheck", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(package, *args):
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from gpucheck.cli import main; main()"
    argv = [sys.executable, "-I", "-c", code, str(package), *args]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", FOLDERS)
def test_other_commands_work_without_a_command(package, name):
    folder, aside = package / "gpucheck" / "commands" / name, package / name
    folder.rename(aside)
    try:
        shown = run(package, "--help")
        other = run(package, "rules" if name == "check" else "node", *([] if name == "check" else ["--gres", "0"]))
        if name == "node":
            other = run(package, "--quick", "--allow-cpu", "--format", "json")
        loaded = subprocess.run([sys.executable, "-I", "-c", LOAD, str(package)], capture_output=True, text=True, timeout=60)
    finally:
        aside.rename(folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"\n  {name} " not in shown.stdout
    assert other.returncode in (0, 1), other.stderr
    assert (loaded.returncode, loaded.stderr) == (0, "")


LOAD = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
import gpucheck.core.engine.pipeline
from gpucheck.core.engine.discovery import load_combiners, load_probes, load_rules, load_rows
assert load_combiners() and load_probes() and load_rules() and load_rows()
for package in ("reports", "logs", "solver", "expectations", "repairs", "cluster", "system"):
    for found in pkgutil.walk_packages(importlib.import_module(f"gpucheck.core.{package}").__path__, f"gpucheck.core.{package}."):
        if not found.name.endswith((".html", ".prometheus", ".charts", ".install")):
            importlib.import_module(found.name)
assert not [name for name in sys.modules if name.startswith("gpucheck.commands")]
"""
