"""Ranks started by mpirun on one machine train together, and one of them reports."""

import shutil
import sys

import pytest
from recipe_helpers import run

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow, pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")]


def test_ranks_train_together_and_the_first_reports():
    argv = [sys.executable, "-m", "gpucheck", "--allow-cpu", "--strategy", "multi_worker_mirrored", "--timeout", "150"]
    done = run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", *argv], timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("gpucheck 0.") == 1
    assert "multi_worker_mirrored 2 × CPU:0 passed" in done.stdout
