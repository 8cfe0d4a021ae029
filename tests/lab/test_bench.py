"""The lab itself: unexpected results are reported."""

import os
import subprocess
import sys

from lab.bench import QUICK, Fault
from leftovers import VARIABLE, leftovers, leftovers_after


def test_differing_result_is_a_problem(bench):
    """All differences from a wrong expectation are reported."""
    wrong = Fault("none", ("driver-missing",), exit=3, level=QUICK, verdict="fail", also=("gpu-lost",), limit_seconds=0.01)
    text = " ".join(bench.run(wrong).problems)
    for words in ("named pass", "exit 0 instead of 3", "verdict pass", "['gpu-lost']", "more than 0 s"):
        assert words in text


def test_leftover_process_is_found(tmp_path):
    marker = str(tmp_path)
    code = "import time; time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, VARIABLE: marker})
    try:
        assert leftovers_after(marker, 0.2) == [process.pid]
    finally:
        process.kill()
        process.wait()
    assert leftovers(marker) == []
