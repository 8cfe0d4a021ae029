"""The folder for children's temporary files: in the user's temporary folder, and removed afterwards."""

import importlib.util
import os
import subprocess
import sys

import pytest

from gpucheck.core.child.messages.machine import InterpreterTask, LibrariesTask
from gpucheck.core.host.children import Scratch
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux'")


def test_folder_is_created_on_demand_and_removed_with_its_contents(tmp_path):
    scratch = Scratch({"TMPDIR": str(tmp_path)})
    assert os.listdir(tmp_path) == []
    set_for_a_child = scratch.variables()
    (name,) = os.listdir(tmp_path)
    assert set_for_a_child == dict.fromkeys(("TMPDIR", "TEMP", "TMP", "GPUCHECK_SCRATCH"), str(tmp_path / name))
    assert scratch.variables() == set_for_a_child
    (tmp_path / name / "left.py").write_text("")
    scratch.remove()
    assert os.listdir(tmp_path) == []
    scratch.remove()


def test_no_folder_is_created_after_removal(tmp_path):
    scratch = Scratch({"TMPDIR": str(tmp_path)})
    scratch.remove()
    assert scratch.variables() == {}
    assert os.listdir(tmp_path) == []


def test_folder_is_not_left_if_the_run_ends_during_its_creation(tmp_path):
    class Environment(dict):
        def get(self, name, default=None):
            scratch.remove()
            return super().get(name, default)

    scratch = Scratch(Environment(TMPDIR=str(tmp_path)))
    assert scratch.variables() == {}
    assert os.listdir(tmp_path) == []


@linux
def test_unwritable_temporary_folder_is_replaced_by_another(tmp_path):
    scratch = Scratch({"TMPDIR": "/proc"}, default=("/proc", str(tmp_path)))
    (made,) = set(scratch.variables().values())
    assert os.listdir(tmp_path) == [os.path.relpath(made, tmp_path)]
    scratch.remove()
    assert os.listdir(tmp_path) == []


@linux
def test_environment_of_a_child_is_unchanged_without_a_folder():
    assert Scratch({"TMPDIR": "/proc"}, ("/proc",)).variables() == Scratch({}, ("/proc",)).variables() == {}


def test_only_children_that_need_it_get_a_folder(tmp_path):
    with LocalHost(Request(timeout_seconds=20), env={**os.environ, "TMPDIR": str(tmp_path)}) as host:
        host.child(LibrariesTask(())).end()
        assert os.listdir(tmp_path) == []
        host.child(InterpreterTask()).end()
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.slow
def test_training_leaves_no_files_even_if_warnings_are_errors(tmp_path):
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONWARNINGS": "error", "CUDA_VISIBLE_DEVICES": "-1"}
    argv = [sys.executable, "-m", "gpucheck", "--allow-cpu", "--strategy", "one_device"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout
    assert os.listdir(tmp_path) == []
