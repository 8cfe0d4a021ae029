"""Commands are independent of each other, and the core of all of them."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import gpucheck

TESTS = pathlib.Path(__file__).parents[1]
CORE = ("rules", "probes", "compat", "training", "repairs", "redaction", "logs", "reports")
USES_COMMANDS = re.compile(
    r"gpucheck\.c(?:li|ommands)|-m gpucheck|from command import|recipe_helpers|repeats_endlessly|every_field_is_set"
)
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


def test_run_cannot_watch_without_the_folder_that_watches(package):
    folder, aside = package / "gpucheck" / "commands" / "watch", package / "watch"
    folder.rename(aside)
    try:
        watched = run(package, "run", "--watch", "--", "true")
    finally:
        aside.rename(folder)
    assert watched.returncode == 2
    assert "this installation of gpucheck has no folder commands/watch, which --watch needs" in watched.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_core_passes_its_tests_without_any_command(package):
    files = [
        file
        for folder in CORE
        for file in sorted((TESTS / folder).glob("test_*.py"))
        if not USES_COMMANDS.search(file.read_text())
    ]
    commands, aside = package / "gpucheck" / "commands", package / "aside"
    commands.rename(aside)
    try:
        options = ["-q", "-c", TESTS.parent / "pyproject.toml", "-m", "not tensorflow and not slow"]
        argv = [sys.executable, "-m", "pytest", *map(str, [*options, *files])]
        done = subprocess.run(
            argv, cwd=package, capture_output=True, text=True, timeout=800
        )  # it imports the copy in this folder
    finally:
        aside.rename(commands)
    assert len(files) > 50
    assert done.returncode == 0, done.stdout[-3000:]


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
