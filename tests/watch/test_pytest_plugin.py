"""The marker and the fixture of the pytest plugin, in a sample project."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROJECT = """
import pytest

@pytest.mark.requires_gpu
def test_requires_one_gpu(): ...

@pytest.mark.requires_gpu(gpus=0)
def test_runs_on_a_cpu(): ...

@pytest.mark.requires_gpu(gpus=2, memory_gib=40)
class TestSeveral:
    def test_requires_two_gpus_with_40_gib(self): ...

def test_requires_gpu_by_fixture(requires_gpu):
    assert requires_gpu.facts["cuda"].devices

def test_without_requirement(): ...
"""
RECORDED = """
from gpucheck.pytest_plugin import REPORTS

def pytest_configure(config):
    config.stash[REPORTS] = dict.fromkeys((False, True), recorded())
"""


@pytest.mark.parametrize(("gpus", "expected"), [(0, "2 passed, 3 skipped"), (1, "4 passed, 1 skipped")])
def test_tests_are_skipped_with_the_root_cause(tmp_path, gpus, expected):
    (tmp_path / "test_project.py").write_text(PROJECT)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    argv = [sys.executable, "-m", "pytest", "-rs", "-p", "gpucheck.pytest_plugin", "-p", "no:cacheprovider", "test_project.py"]
    if gpus:  # replace this machine with a recorded one
        place = f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r})\nfrom test_api import recorded\n"
        (tmp_path / "conftest.py").write_text(place + RECORDED)
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert expected in done.stdout, done.stdout + done.stderr
    if not gpus:
        assert "[no-nvidia-gpu]" in done.stdout
        assert "test_project.py:4: No NVIDIA GPU" in done.stdout  # the test's own line


@pytest.mark.parametrize(
    ("mark", "level", "message"),
    [
        ("gpu=2", "quick", "test_one: requires_gpu(gpus=1, memory_gib=0): got an unexpected keyword argument 'gpu'"),
        (
            "gpus='two'",
            "quick",
            "test_one: requires_gpu(gpus=1, memory_gib=0): gpus must be a number of GPUs, 0 or more. Received: 'two'",
        ),
        ("gpus=1", "slow", "gpucheck_level must be one of quick, default, full. Received: 'slow'"),
    ],
)
def test_invalid_marker_arguments_are_rejected_before_any_test_runs(tmp_path, mark, level, message):
    (tmp_path / "test_project.py").write_text(f"import pytest\n\n@pytest.mark.requires_gpu({mark})\ndef test_one(): ...\n")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\ngpucheck_level = {level}\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    argv = [sys.executable, "-m", "pytest", "-p", "gpucheck.pytest_plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, "Traceback" in done.stderr) == (pytest.ExitCode.USAGE_ERROR, False)
    assert message in done.stderr
