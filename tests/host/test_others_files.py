"""Nothing that another user may have written is executed: modules of the current folder, programs on root's PATH."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has a different kind of owners")
UNMAPPED_USER = 65534
MODULES = ("json", "logging", "random", "grp", "contextlib", "click", "sitecustomize")


@pytest.fixture
def folder(tmp_path):
    """A current folder with modules that record their execution in a file."""
    folder = tmp_path / "current"
    folder.mkdir()
    for name in MODULES:
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'executed')!r}, 'a').write({name!r} + ' ')\nraise ImportError(__file__)\n"
        )
    absent = tmp_path / "absent"
    absent.mkdir()
    (absent / "tensorflow.py").write_text("import json, logging, random\nraise ImportError('no TensorFlow here')\n")
    return folder


def executed(folder):
    """The modules that a check in this folder executed."""
    env = {**os.environ, "PYTHONPATH": str(folder.parent / "absent")}
    for argv in ([sys.executable, "-m", "gpucheck", "--no-smoke"], [sys.executable, "-m", "gpucheck", "--quick"]):
        subprocess.run(argv, cwd=folder, env=env, capture_output=True, timeout=60)
    mark = folder.parent / "executed"
    return mark.read_text().split() if mark.exists() else []


def test_modules_of_a_world_writable_current_folder_are_not_executed(folder):
    folder.chmod(0o1777)  # as /tmp
    assert executed(folder) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root: a folder is given to another user")
def test_modules_of_a_current_folder_of_another_user_are_not_executed(folder):
    os.chown(folder, 1234, 1234)
    assert executed(folder) == []


def test_modules_of_the_users_own_current_folder_are_executed(folder):
    """As for the user's programs, such a file makes an import fail."""
    assert executed(folder)  # the first one depends on the Python


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize(
    ("owner", "mode", "expected"), [(1234, 0o755, False), (UNMAPPED_USER, 0o755, False), (0, 0o757, False), (0, 0o755, True)]
)
@pytest.mark.parametrize("place", ["program", "folder", "folder behind a link"])
def test_root_does_not_execute_programs_that_another_user_can_replace(tmp_path, place, owner, mode, expected):
    real, link = tmp_path / "real", tmp_path / "link"
    program = program_of(real, mark=tmp_path / "executed")
    link.mkdir()
    (link / "nvidia-smi").symlink_to(program)
    changed = program if place == "program" else real
    os.chown(changed, owner, owner)
    changed.chmod(mode)
    check([], link if place == "folder behind a link" else real)
    assert (tmp_path / "executed").exists() is expected


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
def test_root_of_a_user_namespace_executes_programs_of_the_host(tmp_path):
    """In the namespace, the unmapped root of the host appears as the user nobody."""
    unshare = ["unshare", "--user", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("user namespaces are not available")
    program = program_of(tmp_path / "real", mark=tmp_path / "executed")
    os.chown(program, 1234, 1234)
    check(unshare, program.parent)
    assert (tmp_path / "executed").exists()


def program_of(folder, mark):
    """An nvidia-smi that creates a file when executed."""
    folder.mkdir()
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n: > {mark}\n")
    program.chmod(0o755)
    return program


def check(prefix, folder):
    """Run a check with a folder first on PATH."""
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run([*prefix, sys.executable, "-m", "gpucheck", "--quick"], env=env, capture_output=True, timeout=60)
