"""Devices trained at the same time: the same checks as alone, per device, and the failing device is named."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from case_files import program

from gpucheck.core.child.messages.training import Job
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import training
from gpucheck.core.training.smoke import parallel_devices, proof

needs_tensorflow = pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
pytestmark = pytest.mark.tensorflow


def request(**more):
    return Request(allow_cpu=True, timeout_seconds=240, strategies=("one_device",), logical_devices=4, **more)


@pytest.fixture(scope="module")
def runs():
    with LocalHost(request(), env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}) as host:
        return training.read(host).runs


@needs_tensorflow
@pytest.mark.slow
def test_every_logical_device_passes_all_checks(runs):
    assert [(run.devices, run.status, run.loop, run.trained_with) for run in runs] == [
        (("CPU:0",), "passed", "fit", 0),
        (("CPU:1",), "passed", "train_step", 2),
        (("CPU:2",), "passed", "train_step", 2),
        (("CPU:3",), "passed", "train_step", 2),
    ]
    for run in runs:
        assert run.placement_verified is True, run
        assert run.gradients_reach_weights is True
        assert run.output_dtype == "float32"
        assert run.drop_remainder is True
    assert [run.xla_verified for run in runs] == [True, None, None, None]  # the others are the same processor


@needs_tensorflow
@pytest.mark.slow
def test_traced_step_matches_fit(runs):
    first, *others = runs
    for run in others:
        assert run.loss.first == pytest.approx(first.loss.first, rel=1e-4)
        assert run.loss.last == pytest.approx(others[0].loss.last, rel=1e-3)
        assert run.loss.last < 0.7 * run.loss.first  # one repeated batch, whose loss falls fast


CRASH = program("together_crash.py")


@needs_tensorflow
@pytest.mark.slow
def test_crash_is_attributed_to_the_device_that_causes_it(tmp_path):
    """Of three devices that trained when the process died, one crashes it again when it trains alone."""
    (tmp_path / "sitecustomize.py").write_text(CRASH)
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": str(tmp_path)}
    with LocalHost(request(), env=env) as host:
        found = training.read(host).runs
    assert [(run.devices[0], run.status) for run in found] == [
        ("CPU:0", "passed"),
        ("CPU:1", "passed"),
        ("CPU:2", "failed"),
        ("CPU:3", "passed"),
    ]
    assert found[2].reason == "the training process was killed by SIGSEGV"


def test_misplaced_op_is_attributed_to_the_device_that_lacks_it():
    placed = {("Conv2D", "GPU:0"), ("MatMul", "GPU:0"), ("MatMul", "GPU:1"), ("Conv2D", "CPU:0")}
    found = {}
    for device in ("GPU:0", "GPU:1"):
        result = found[device] = Job("one_device", (device,)).planned_run
        proof.note_placement(result, parallel_devices.ops_of_device(placed, device, ["GPU:0", "GPU:1"]), [device])
    assert [result.placement_verified for result in found.values()] == [True, False]
    assert found["GPU:1"].misplaced_ops == ("Conv2D on CPU:0",)
    assert parallel_devices.ops_of_device(None, "GPU:0", []) is None


COMPILED = program("together_compiled.py")


@needs_tensorflow
@pytest.mark.slow
def test_xla_compiles_for_devices_after_the_first():
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, timeout=240, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted((stage, status, reason) for stage, status, reason, _ in lines) == [
        ("one_device CPU:1 float32 xla", "passed", None),
        ("one_device CPU:1 float32 xla", "passed", None),
        ("one_device CPU:2 float32 xla", "passed", None),
    ]
    assert len({round(loss, 3) for *_, loss in lines}) == 1


@needs_tensorflow
@pytest.mark.slow
def test_placement_log_of_tensorflow_is_printed():
    command = [sys.executable, "-m", "gpucheck", "--allow-cpu", "--strategy", "one_device"]
    done = subprocess.run([*command, "--log-device-placement"], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0
    assert "(Conv2D): /job:localhost/replica:0/task:0/device:CPU:0" in done.stderr
    assert "/job:localhost" not in done.stdout


@needs_tensorflow
@pytest.mark.slow
def test_placement_log_of_every_worker_is_printed():
    command = [sys.executable, "-m", "gpucheck", "--allow-cpu", "--log-device-placement"]
    command += ["--strategy", "multi_worker_mirrored", "--strategy", "parameter_server"]
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env)
    assert done.returncode == 0, done.stdout
    for start, device in (
        ("worker 0: ", "/job:worker/replica:0/task:0/device:CPU:0"),
        ("worker 1: ", "/job:worker/replica:0/task:1/device:CPU:0"),
        ("coordinator: ", "/job:ps/replica:0/task:0/device:CPU:0"),
    ):
        assert any(line.startswith(start) and device in line for line in done.stderr.splitlines()), start


HALF = program("together_half.py")


@needs_tensorflow
@pytest.mark.slow
def test_each_device_scales_its_own_loss():
    done = subprocess.run([sys.executable, "-c", HALF], capture_output=True, text=True, timeout=240, check=True)
    for run in json.loads(done.stdout):
        assert (run["status"], run["reason"]) == ("passed", None)
        assert run["loss_scale"] == 32768.0
