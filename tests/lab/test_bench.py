"""The lab itself can fail: deviations are reported."""

import os
import subprocess
import sys

from lab.bench import QUICK, Fault
from leftovers import VARIABLE, leftovers, leftovers_after


def test_a_result_that_differs_is_a_problem(bench):
    """The lab itself can fail: all deviations from a wrong expectation are reported."""
    wrong = Fault("none", ("driver-missing",), exit=3, level=QUICK, verdict="fail", also=("gpu-lost",), limit_seconds=0.01)
    told = " ".join(bench.run(wrong).problems)
    for words in ("named pass", "exit 0 instead of 3", "verdict pass", "['gpu-lost']", "more than 0 s"):
        assert words in told


def test_a_process_that_stays_is_found(tmp_path):
    marker = str(tmp_path)
    code = "import time; time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, VARIABLE: marker})
    try:
        assert leftovers_after(marker, 0.2) == [process.pid]
    finally:
        process.kill()
        process.wait()
    assert leftovers(marker) == []
