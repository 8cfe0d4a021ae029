"""Keras on JAX and PyTorch in its own child: the real ones if installed, and fakes that train, fail and hang."""

import importlib.util
import os

import pytest
from case_files import CASES, program, table

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Level, Request
from gpucheck.core.probes import backend, keras, log, training

JAX, KERAS = ((CASES / "programs" / f"{name}.py").read_text() for name in ("jax", "keras"))


def fakes(folder, jax=JAX, keras=KERAS, *, broken="pass", places="list(jax.current)", drift=0):
    """An environment with a fake JAX and a fake Keras."""
    text = keras.replace("BROKEN", broken).replace("PLACES", places).replace("DRIFT", str(drift))
    for name, code in (("jax", jax), ("keras", text)):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(code)
    return {**os.environ, "PYTHONPATH": str(folder)}


def proven(env, **request):
    """The facts that the probes read in this environment."""
    with LocalHost(Request(**{"backend": "jax", "timeout_seconds": 60, **request}), env=env) as host:
        return backend.read(host), keras.read(host), training.read(host)


def test_devices_are_trained_alone_and_together(tmp_path):
    seen, describe, proof = proven(fakes(tmp_path))
    assert (seen.name, seen.source, seen.imported, seen.version) == ("jax", "--backend", True, "0.99.0")
    assert [device.name for device in seen.devices] == ["CPU:0", "CPU:1"]
    assert (describe.backend, describe.backend_source, describe.legacy) == ("jax", "--backend", False)
    assert [(run.strategy, run.devices, run.status, run.backend, run.compiled) for run in proof.runs] == [
        ("one_device", ("CPU:0",), "passed", "jax", True),
        ("data_parallel", ("CPU:0", "CPU:1"), "passed", "jax", True),
    ]
    one, both = proof.runs
    assert (one.global_batch_size, both.global_batch_size, both.per_replica_batch_size, both.replicas) == (8, 16, 8, 2)
    assert (one.replicas_equal, both.replicas_equal) == (None, True)
    assert one.loss_fell is one.gradients_reach_weights is one.placement_verified is True
    assert one.tf32 is None  # although JAX reports it, because nothing ran on a GPU
    assert one.steps == 12
    assert proof.ending is None


def test_full_level_adds_precisions_and_growing_groups(tmp_path):
    _, _, proof = proven(fakes(tmp_path), level=Level.FULL)
    assert [(run.strategy, len(run.devices), run.precision) for run in proof.runs] == [
        ("one_device", 1, "float32"),
        ("one_device", 1, "mixed_float16"),
        ("one_device", 1, "mixed_bfloat16"),
        ("data_parallel", 1, "float32"),
        ("data_parallel", 2, "float32"),
    ]


def test_training_on_another_device_fails(tmp_path):
    _, _, proof = proven(fakes(tmp_path, places="jax.devices()[1:]"))
    assert [run.reason for run in proof.runs] == [
        "the work did not run where it was placed: kernel on CPU:1",
        "the work did not run where it was placed: not every device took part",
    ]


def test_training_with_differing_replicas_fails(tmp_path):
    _, _, proof = proven(fakes(tmp_path, drift=1))
    assert [(run.status, run.reason) for run in proof.runs] == [("passed", None), ("failed", "the replicas' weights differ")]


@table
def test_training_that_fails_or_crashes(tmp_path, broken, status, reason):
    _, _, proof = proven(fakes(tmp_path, broken=broken))
    first = proof.runs[0]
    assert (first.status, first.reason, first.stage, first.backend) == (status, reason, "build", "jax")
    assert {run.backend for run in proof.runs} == {"jax"}


def test_hanging_training_times_out(tmp_path):
    _, _, proof = proven(fakes(tmp_path, broken="import time; time.sleep(600)"), timeout_seconds=8)
    assert [run.status for run in proof.runs] == ["timed_out", "timed_out"]
    assert proof.ending == "timed out"


@table
def test_jax_that_fails_to_import(tmp_path, text, error):
    seen, describe, proof = proven(fakes(tmp_path, jax=text))
    assert (seen.imported, seen.error, seen.devices) == (False, error, None)
    assert not describe.imported
    assert proof.runs == ()


def test_hanging_import_of_jax_is_unknown_instead_of_broken(tmp_path):
    seen, describe, _ = proven(fakes(tmp_path, jax="import time; time.sleep(600)"), timeout_seconds=4)
    assert (seen.imported, seen.ending) == (None, "timed out")
    assert describe.error == "not reached: JAX's process timed out in the stage import"


def test_jax_platforms_is_reported_as_the_reason_for_no_gpu(tmp_path):
    seen, _, _ = proven({**fakes(tmp_path), "JAX_PLATFORMS": "cpu"}, smoke=False)
    assert seen.problem == "JAX_PLATFORMS=cpu"


def test_failed_jax_plugin_is_reported_as_the_reason_for_no_gpu(tmp_path):
    """JAX logs the failure and continues with the CPU."""
    words = """
def devices(backend=None):
    import logging
    try:
        raise RuntimeError("Unable to load CUDA. Is it installed?")
    except RuntimeError:
        logging.getLogger("jax._src.xla_bridge").exception("Jax plugin configuration error")
    return _all
"""
    with LocalHost(Request(backend="jax", smoke=False, timeout_seconds=60), env=fakes(tmp_path, jax=JAX + words)) as host:
        assert backend.read(host).problem == "Unable to load CUDA. Is it installed?"
        assert any("Unable to load CUDA" in event.text for event in log.read(host).events)


@pytest.mark.parametrize("setting", ["variable", "file"])
def test_backend_without_the_option_is_that_of_the_environment(tmp_path, setting):
    """TensorFlow is still inspected, but trains nothing."""
    env = fakes(tmp_path)
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("raise ImportError('broken')")
    variable, folder = {"KERAS_BACKEND": "jax"}, str(tmp_path)
    (tmp_path / "keras.json").write_text('{"backend": "jax"}')
    if setting == "file":  # the fake Keras reads only the variable; the real Keras reads both
        variable = {"KERAS_HOME": folder}
        package = tmp_path / "keras" / "__init__.py"
        package.write_text(package.read_text().replace('os.environ["KERAS_BACKEND"]', '"jax"'))
    seen, describe, proof = proven({**env, **variable}, backend=None)
    source = "KERAS_BACKEND" if setting == "variable" else f"{folder}/keras.json"
    assert (seen.source, describe.backend_source) == (source, source)
    assert [run.backend for run in proof.runs] == ["jax", "jax"]


def test_keras_2_ignores_the_backend_setting(tmp_path):
    env = {**fakes(tmp_path), "KERAS_BACKEND": "jax"}
    (tmp_path / "keras-2.15.0.dist-info").mkdir()
    (tmp_path / "keras-2.15.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: keras\nVersion: 2.15.0\n")
    with LocalHost(Request(timeout_seconds=60), env=env) as host:
        assert (backend.read(host).name, backend.read(host).source) == ("tensorflow", "default")


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_real_jax_trains():
    """Two replicas on a CPU that XLA splits; TensorFlow is not needed."""
    with LocalHost(Request(backend="jax", timeout_seconds=280), env={**os.environ, "JAX_PLATFORMS": "cpu"}) as host:
        one, both = training.read(host).runs
        lines = log.read(host).lines
    assert [(run.strategy, run.devices, run.status) for run in (one, both)] == [
        ("one_device", ("CPU:0",), "passed"),
        ("data_parallel", ("CPU:0", "CPU:1"), "passed"),
    ]
    assert one.accuracy > 0.5
    assert both.replicas_equal is both.placement_verified is True
    assert lines >= 0


REFERENCE = program("backend_reference.py")


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.parametrize("precision", ["float32", "mixed_bfloat16"])
def test_reference_loss_matches_the_first_step(precision):
    """Computed eagerly on the CPU, it equals the first loss of ``fit`` on the CPU, so that only another device can differ."""
    import json
    import subprocess
    import sys

    env = {**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", REFERENCE, precision], capture_output=True, text=True, timeout=200, check=True, env=env
    )
    here, there = json.loads(done.stdout.splitlines()[-1])
    assert there == pytest.approx(here, rel=1e-3 if precision == "float32" else 1e-2)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_real_pytorch_trains():
    with LocalHost(Request(backend="torch", timeout_seconds=280), env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}) as host:
        (one,) = training.read(host).runs
        seen = backend.read(host)
    assert (one.strategy, one.devices, one.status, one.compiled) == ("one_device", ("CPU:0",), "passed", False)
    assert one.accuracy > 0.3
    assert seen.built_with_cuda is not None
