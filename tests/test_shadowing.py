"""Detection of user files that shadow a standard library module or a package."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from case_files import table

import gpucheck

FOUND = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from gpucheck.core.system import shadowing
try:
    {program}
except BaseException as error:
    print(json.dumps(shadowing.shadowing_files(error)))
"""
HOME = str(pathlib.Path(gpucheck.__file__).parent.parent)


def found(folder, program, **env):
    """The files found after a failing one-line program in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", FOUND.format(program=program), HOME],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@table
def test_file_that_hides_a_module_is_found(tmp_path, module, body, program):
    (tmp_path / f"{module}.py").write_text(body)
    assert found(tmp_path, program) == {module: str(tmp_path / f"{module}.py")}


def test_shadowing_by_packages_and_pythonpath_is_detected(tmp_path):
    package = tmp_path / "own" / "msgspec"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    there = tmp_path / "elsewhere"
    there.mkdir()
    program = "import msgspec; msgspec.Struct"
    assert found(there, program, PYTHONPATH=str(tmp_path / "own")) == {"msgspec": str(package / "__init__.py")}


@table
def test_file_that_hides_no_used_module_is_ignored(tmp_path, module, program):
    (tmp_path / f"{module}.py").write_text("")
    assert found(tmp_path, program) == {}


def as_module(folder, *args):
    return subprocess.run(
        [sys.executable, "-m", "gpucheck", "--quick", "--allow-cpu", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.tensorflow
def test_hidden_module_is_reported_as_a_finding_if_possible(tmp_path):
    (tmp_path / "json.py").write_text("")
    done = as_module(tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"mv {tmp_path}/json.py {tmp_path}/my_json.py" in done.stdout


@pytest.mark.parametrize(
    ("module", "body"),
    [
        ("json", "raise RuntimeError"),
        ("shutil", "raise SystemExit(0)"),
        ("msgspec", "exit()"),
        ("click", "quit()"),
        ("typing", "raise SystemExit(0)"),
        ("selectors", "x = ("),
        ("click", ""),
        ("typing", ""),
        ("signal", ""),
    ],
)
def test_python_m_names_the_file_in_one_line(tmp_path, module, body):
    file = tmp_path / f"{module}.py"
    file.write_text(body)
    done = as_module(tmp_path)
    advice = "rename it and delete its __pycache__, or start from another folder"
    assert (done.returncode, done.stderr) == (3, f"gpucheck: {file} shadows the installed module {module}: {advice}\n")
