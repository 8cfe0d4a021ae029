"""A coordinator, two workers and a parameter server, with the real TensorFlow, in one process."""

import importlib.util
import os

import pytest
from fakes import FakeChild, FakeHost
from leftovers import VARIABLE, leftovers_after

from gpucheck.core.child.messages.frameworks import KerasImport, KerasImported
from gpucheck.core.cluster import workers
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.slow
def test_parameter_server_trains(tmp_path):
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", VARIABLE: str(tmp_path), "TF_CONFIG": "not this one"}
    with LocalHost(Request(timeout_seconds=120.0), env=env) as host:
        run = workers.train_with_server(host, FakeChild(KerasImported(KerasImport(imported=True, backend="tensorflow"))))
    assert (run.status, run.reason, run.strategy, run.cluster) == ("passed", None, "parameter_server", "this machine")
    assert run.placement_verified is True  # the variables are on the parameter server
    assert run.gradients_reach_weights is True
    assert run.loss.last < run.loss.first
    assert run.global_batch_size == run.per_replica_batch_size  # workers do not wait for each other's gradients
    assert run.fit_verified is False
    assert "ClusterCoordinator" in run.fit_problem
    assert leftovers_after(str(tmp_path), 2.0) == []


def test_training_is_skipped_with_another_keras_backend():
    run = workers.train_with_server(FakeHost(), FakeChild(KerasImported(KerasImport(imported=True, backend="torch"))))
    assert (run.status, run.reason) == ("skipped", "Keras runs on torch here; TensorFlow's strategies cannot train it")


def test_process_that_fails_to_start_is_reported():
    run = workers.train_with_server(FakeHost(), FakeChild(KerasImported(KerasImport(imported=True, backend="tensorflow"))))
    assert (run.status, run.reason) == ("failed", "coordinator: not started: no such child in this test")
