"""Provoked out-of-memory errors, in a real child with the real TensorFlow on a CPU, and in a child that crashes."""

import os

import pytest
from in_tensorflow import MARKS

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Level, Request, TrainingRun
from gpucheck.core.probes._exhaustion import provoke

pytestmark = MARKS
REQUEST = Request(allow_cpu=True, level=Level.FULL, timeout_seconds=240)
TRAINED = (TrainingRun(strategy="one_device", devices=("CPU:0",), replicas=1, precision="float32", status="passed"),)
KILLED = """
import os, signal, sys
def trace(frame, event, argument):
    if frame.f_code.co_name == "_exhaust" and frame.f_code.co_filename.endswith("exhaustion.py"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.settrace(trace)
"""


def provoked(**env):
    with LocalHost(REQUEST, env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", **env}) as host:
        return provoke(host, TRAINED)[0]


@pytest.mark.slow
def test_out_of_memory_is_caught_and_training_continues():
    made = provoked()
    figures = made.figures
    assert (made.status, made.reason) == ("passed", None)
    assert figures["asked_bytes"] == 2 * figures["limit_set_by_gpucheck_bytes"]
    assert figures["loss_after"] == pytest.approx(figures["loss_before"], rel=1e-4)
    assert made.note.startswith("ResourceExhaustedError: OOM when allocating tensor with shape")


@pytest.mark.slow
def test_killed_child_is_reported_as_failed(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(KILLED)
    made = provoked(PYTHONPATH=str(tmp_path))
    assert (made.status, made.reason) == (
        "failed",
        "the process ended when it requested more memory than available: killed by SIGKILL",
    )
    assert made.figures["asked_bytes"] is None
    assert made.figures["loss_before"] > 0
