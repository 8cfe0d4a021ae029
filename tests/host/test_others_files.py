"""Nothing that another user may have written is executed: modules of the current folder, programs on root's PATH."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other owners")
NOBODY = 65534
MODULES = ("json", "logging", "random", "grp", "contextlib", "click", "sitecustomize")


@pytest.fixture
def folder(tmp_path):
    """A current folder of modules that leave a mark when executed."""
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
    """Which of them were executed by a check there."""
    env = {**os.environ, "PYTHONPATH": str(folder.parent / "absent")}
    for argv in ([sys.executable, "-m", "gpucheck", "--no-smoke"], [sys.executable, "-m", "gpucheck", "--quick"]):
        subprocess.run(argv, cwd=folder, env=env, capture_output=True, timeout=60)
    mark = folder.parent / "executed"
    return mark.read_text().split() if mark.exists() else []


def test_modules_of_a_current_folder_that_others_can_write_to_are_not_executed(folder):
    folder.chmod(0o1777)  # as /tmp
    assert executed(folder) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root: a folder of another user is made")
def test_modules_of_another_users_current_folder_are_not_executed(folder):
    os.chown(folder, 1234, 1234)
    assert executed(folder) == []


def test_modules_of_ones_own_current_folder_are(folder):
    """Like a user's program there: such a file makes an import fail."""
    assert executed(folder)  # which of them first depends on the Python


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize(
    ("owner", "mode", "expected"), [(1234, 0o755, False), (NOBODY, 0o755, False), (0, 0o757, False), (0, 0o755, True)]
)
@pytest.mark.parametrize("place", ["program", "folder", "folder behind a link"])
def test_root_executes_no_program_that_another_user_can_have_put_there(tmp_path, place, owner, mode, expected):
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
    """There, the unmapped root of the host appears as nobody."""
    unshare = ["unshare", "--user", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    program = program_of(tmp_path / "real", mark=tmp_path / "executed")
    os.chown(program, 1234, 1234)
    check(unshare, program.parent)
    assert (tmp_path / "executed").exists()


def program_of(folder, mark):
    """An nvidia-smi that leaves a mark."""
    folder.mkdir()
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n: > {mark}\n")
    program.chmod(0o755)
    return program


def check(prefix, folder):
    """A check with a folder first on PATH."""
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run([*prefix, sys.executable, "-m", "gpucheck", "--quick"], env=env, capture_output=True, timeout=60)
