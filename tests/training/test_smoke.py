"""The real TensorFlow in its real child: its report, its training, and failing imports."""

import importlib.util
import json
import os
import subprocess
import sys

import jsonschema
import pytest
from case_files import program, table
from command import gpucheck, in_a_process

from gpucheck.core.engine import recorded
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import keras, tensorflow, training
from gpucheck.core.training.smoke import network
from gpucheck.core.training.strategies import load

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"),
]


@pytest.fixture(scope="module")
def checked():
    """One check for the whole module, because training is slow."""
    return in_a_process("--allow-cpu", "--format", "json", "--timeout", "240", env={"CUDA_VISIBLE_DEVICES": "-1"})


@pytest.fixture(scope="module")
def trained(checked):
    """The facts of the check, by name."""
    return {reading.probe: reading.fact for reading in recorded.load(checked.stdout.encode()).readings}


def test_report_matches_its_schema(checked):
    report = json.loads(checked.stdout)
    jsonschema.Draft202012Validator(json.loads(gpucheck("schema").stdout)).validate(report)
    assert (checked.returncode, report["exit_code"]) == (0, 0)


def test_tensorflow_reports_its_version_build_and_devices(trained):
    fact = trained["tensorflow"]
    assert fact.imported is True
    assert fact.version.startswith("2.")
    assert fact.import_seconds > 0.1
    assert [device.kind for device in fact.devices] == ["CPU"]
    assert fact.ending is None


def test_keras_reports_its_backend(trained):
    assert trained["keras"].imported is True
    assert trained["keras"].backend == "tensorflow"


def test_cpu_and_two_replicas_are_trained(trained):
    fact = trained["training"]
    assert fact.ending is None
    assert [(run.strategy, run.devices, run.status) for run in fact.runs] == [
        ("one_device", ("CPU:0",), "passed"),
        ("mirrored", ("CPU:0", "CPU:1"), "passed"),
    ]
    one, mirrored = fact.runs
    assert one.loss.last < one.loss.first
    assert one.placement_verified is True
    assert one.gradients_reach_weights is True
    assert one.xla_verified is True
    assert one.replicas_equal is None
    assert mirrored.replicas_equal is True
    assert mirrored.global_batch_size == 2 * mirrored.per_replica_batch_size
    assert mirrored.placement_verified is True
    assert one.samples_per_second == pytest.approx(one.global_batch_size / one.step_seconds, rel=0.01)
    assert one.first_step_seconds > one.step_seconds
    assert one.peak_memory_bytes is None


def fake_package(folder, name, text):
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text(text)
    return {**os.environ, "PYTHONPATH": str(folder)}


@table
def test_tensorflow_that_fails_to_import(tmp_path, text, imported, error):
    env = fake_package(tmp_path, "tensorflow", text)
    with LocalHost(Request(timeout_seconds=60), env=env) as host:
        fact = tensorflow.read(host)
        assert (fact.imported, fact.error) == (imported, error)
        assert fact.devices is None
        assert training.read(host).runs == ()
        assert keras.read(host).imported is None


def test_hanging_import_of_tensorflow_is_unknown_instead_of_broken(tmp_path):
    env = fake_package(tmp_path, "tensorflow", "import time; time.sleep(600)")
    with LocalHost(Request(timeout_seconds=4), env=env) as host:
        fact = tensorflow.read(host)
        assert (fact.imported, fact.ending, fact.stage) == (None, "timed out", "import")
        assert keras.read(host).error == "not reached: TensorFlow's process timed out in the stage import"
        assert training.read(host).ending == "timed out"
        assert training.read(host).stage == "import"


WORKING = program("smoke_working.py")


def fake_keras(tmp_path, training_code):
    env = fake_package(tmp_path, "tensorflow", WORKING)
    return fake_package(
        tmp_path,
        "keras",
        "import types\n__version__ = '3.0.0'\n"
        f"def clear():\n    {training_code}\n"
        "backend = types.SimpleNamespace(backend=lambda: 'tensorflow', clear_session=clear)\n"
        "mixed_precision = types.SimpleNamespace(set_global_policy=lambda name: None)\n",
    ) | {"PYTHONPATH": env["PYTHONPATH"]}


@table
def test_training_that_fails_or_crashes(tmp_path, code, status, reason):
    with LocalHost(Request(timeout_seconds=60), env=fake_keras(tmp_path, code)) as host:
        first, *rest = training.read(host).runs
        assert (first.status, first.reason, first.stage) == (status, reason, "build")
        if "kill" in code:
            assert [(run.status, run.reason) for run in rest] == [
                ("skipped", "not reached: the training process was killed by SIGSEGV")
            ]


def test_hanging_training_times_out(tmp_path):
    with LocalHost(Request(timeout_seconds=6), env=fake_keras(tmp_path, "import time; time.sleep(600)")) as host:
        first, *rest = training.read(host).runs
        assert (first.status, first.reason, first.stage) == ("timed_out", "the time limit was reached", "build")
        assert [(run.status, run.reason) for run in rest] == [
            ("timed_out", "not reached: the training process reached the time limit")
        ]


def test_keras_backend_that_cannot_train_is_skipped_with_a_reason(tmp_path):
    env = fake_keras(tmp_path, "pass")
    (tmp_path / "keras" / "__init__.py").write_text(
        "import types\n__version__ = '3.0.0'\nbackend = types.SimpleNamespace(backend=lambda: 'numpy')\n"
    )
    with LocalHost(Request(timeout_seconds=60), env={**env, "KERAS_BACKEND": "numpy"}) as host:
        assert keras.read(host).backend_source == "KERAS_BACKEND"
        runs = training.read(host).runs
        assert {run.status for run in runs} == {"skipped"}
        assert runs[0].reason == "Keras runs on numpy here; TensorFlow's strategies cannot train it"


def test_accuracy_is_above_chance(trained):
    assert all(run.accuracy > 0.5 for run in trained["training"].runs)


REFERENCE = program("smoke_reference.py")


@pytest.mark.slow
def test_reference_loss_matches_the_first_step():
    """Computed eagerly on the CPU, it equals the first loss of ``fit`` on the CPU, so that only another device can differ."""
    command = [sys.executable, "-c", REFERENCE, "float32", "mixed_float16", "mixed_bfloat16"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    losses = json.loads(done.stdout.splitlines()[-1])
    assert len(losses) == 3
    for reference, first in losses.values():
        assert reference == pytest.approx(first, rel=1e-4)


SEVERAL_STEPS = program("smoke_several_steps.py")


@pytest.mark.slow
def test_several_steps_per_execution_have_a_loss_and_time_per_step():
    """As on a TPU: one loss for all steps of an execution, and an equal share of its time for each step."""
    done = subprocess.run([sys.executable, "-c", SEVERAL_STEPS], capture_output=True, text=True, timeout=120, check=True)
    run = json.loads(done.stdout.splitlines()[-1])
    assert (run["status"], run["reason"]) == ("passed", None)
    assert (run["steps"], run["steps_per_execution"], run["drop_remainder"]) == (12, 4, True)
    assert run["loss"]["first"] > run["loss"]["last"]
    assert run["samples_per_second"] == pytest.approx(network.batch_size("CPU:0") / run["step_seconds"], abs=0.06)  # rounded
    assert run["first_step_seconds"] > run["step_seconds"]  # includes tracing and compilation
    assert run["placement_verified"] is True


def test_tpu_runs_several_steps_per_execution():
    together = load("tpu").steps_per_execution
    assert together > 1
    assert network.STEPS % together == 0
