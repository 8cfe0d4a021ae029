"""Several real workers with the real TensorFlow: two of one run, a cluster of several runs, and peers that die or never connect."""

import concurrent.futures
import http.server
import importlib.util
import json
import os
import socket
import threading

import pytest
from case_files import program
from fakes import FakeChild, FakeHost
from leftovers import VARIABLE, leftovers_after

from gpucheck.core.child.messages.frameworks import KerasImport, KerasImported, TensorFlowImport, TensorFlowImported
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.messages.training import Job, Trained
from gpucheck.core.cluster import workers
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request


def trained(job, **measured):
    """The message of a job that passed."""
    return Trained(replace(job.planned_run, status="passed", **measured))


KERAS = KerasImported(KerasImport(imported=True, backend="tensorflow"))
REAL = FakeChild(KERAS)  # the child that trained alone
ASKED = ("multi_worker_mirrored",)
tensorflow = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"),
]
DIES = program("workers_dies.py")


@pytest.fixture
def train(tmp_path):
    """Run parts of a cluster at the same time; check that no process is left."""

    def one(env, strategies, timeout):
        env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", VARIABLE: str(tmp_path), **env}
        with LocalHost(Request(strategies=strategies, timeout_seconds=timeout), env=env) as host:
            return workers.train(host, REAL, 0)

    def together(*envs, strategies=ASKED, timeout=120.0):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return list(pool.map(lambda env: one(env, strategies, timeout), envs))

    yield together
    assert leftovers_after(str(tmp_path), 2.0) == []


@pytest.fixture
def cluster():
    """TF_CONFIG of a chief and a worker on this machine; their ports are free."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        chief, worker = (f"127.0.0.1:{one.getsockname()[1]}" for one in (first, second))
    jobs = {"chief": [chief], "worker": [worker]}
    return [{"TF_CONFIG": json.dumps({"cluster": jobs, "task": {"type": job, "index": 0}})} for job in jobs]


class TestTrained:
    pytestmark = tensorflow

    @pytest.mark.slow
    def test_two_workers_of_one_run_train_together(self, train):
        (run,) = train({}, strategies=())
        assert (run.status, run.reason, run.cluster, run.workers, run.devices) == (
            "passed",
            None,
            "this machine",
            2,
            ("CPU:0",) * 2,
        )
        assert (run.loop, run.sharding, run.shards_verified, run.drop_remainder) == ("strategy.run", "DATA", True, True)
        assert run.global_batch_size == 2 * run.per_replica_batch_size
        assert run.replicas_equal is True
        assert run.loss.last < run.loss.first
        assert run.accuracy > 0.5
        assert run.worker_versions[0] == run.worker_versions[1]
        assert {"python", "tensorflow", "keras"} <= set(run.worker_versions[0])
        # fit fails with this strategy in Keras 3, but not in Keras 2
        assert run.fit_verified is run.worker_versions[0]["keras"].startswith("2")
        assert run.fit_verified or "PerReplica" in run.fit_problem
        assert [(link.workers, link.seconds > 0) for link in run.worker_links] == [(("worker 0", "worker 1"), True)]

    @pytest.mark.slow
    def test_chief_and_worker_of_separate_runs_train_together(self, train, cluster):
        runs = train(*cluster)
        assert [(run.status, run.reason, run.cluster) for run in runs] == [("passed", None, "TF_CONFIG")] * 2
        for run in runs:
            assert run.worker_names == ("chief 0", "worker 0")
            assert (run.workers, run.replicas, run.devices) == (2, 2, ("CPU:0", "CPU:0"))
            assert len(run.worker_versions) == 2
            assert run.shards_verified is True
            assert run.replicas_equal is True

    @pytest.mark.slow
    def test_killed_peer_is_reported(self, train, cluster, tmp_path):
        (tmp_path / "sitecustomize.py").write_text(DIES)
        survivor, victim = train(*({**env, "PYTHONPATH": str(tmp_path)} for env in cluster))
        assert [(fault.worker, fault.how, fault.reason) for fault in victim.worker_faults] == [
            ("worker 0", "ended", "killed by SIGKILL")
        ]
        assert (survivor.status, [(fault.worker, fault.how) for fault in survivor.worker_faults]) == (
            "failed",
            [("worker 0", "lost")],
        )

    @pytest.mark.slow
    def test_peer_that_never_connects_is_reported(self, train, cluster):
        (run,) = train(cluster[0], timeout=25.0)
        assert (run.status, run.stage) == ("failed", "connect")
        assert run.reason == "worker 0: not reachable (nothing listens on its address)"
        assert run.worker_versions[1] == {}

    @pytest.mark.slow
    def test_other_program_on_the_address_of_a_peer_is_reported(self, train, cluster):
        address = json.loads(cluster[0]["TF_CONFIG"])["cluster"]["chief"][0].rpartition(":")
        with http.server.HTTPServer((address[0], int(address[2])), http.server.BaseHTTPRequestHandler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            (run,) = train(cluster[1], timeout=25.0)
            server.shutdown()
        assert [(fault.worker, fault.how, fault.stage) for fault in run.worker_faults] == [
            ("chief 0", "other program", "connect")
        ]

    @pytest.mark.slow
    def test_stopped_peer_that_does_not_respond_is_reported(self, train, cluster):
        address = json.loads(cluster[0]["TF_CONFIG"])["cluster"]["chief"][0].rpartition(":")
        with socket.create_server((address[0], int(address[2]))):
            (run,) = train(cluster[1], timeout=25.0)
        assert [(fault.worker, fault.how) for fault in run.worker_faults] == [("chief 0", "no answer")]


def test_time_limits_follow_the_measured_speed():
    def of(framework, joined=False, remaining=300.0):
        return workers.limits(FakeHost(remaining=remaining), framework, joined)

    plain = of(REAL)
    first = {"plain": (4.0, False, 0), "beside others": (9.0, False, 1), "compiled": (30.0, True, 0)}
    results = [
        (job, trained(Job("one_device", ("GPU:0",), compiled=compiled), first_step_seconds=seconds, trained_with=others))
        for job, (seconds, compiled, others) in first.items()
    ]
    results.append(("several", trained(Job("mirrored", ("GPU:0", "GPU:1")), first_step_seconds=30.0)))
    slow = of(FakeChild(KERAS, TensorFlowImported(TensorFlowImport(imported=True, import_seconds=20.0)), *results))
    assert (plain.quiet, plain.imported, plain.total) == (30.0, 60.0, 150.0)
    assert (slow.quiet, slow.imported) == (70.0, 120.0)
    assert of(REAL, joined=True).total == 300.0 - workers.RESERVE_SECONDS
    assert of(REAL, remaining=1.0).total == 0.0


def test_port_in_use_is_reported(cluster):
    task = json.loads(cluster[1]["TF_CONFIG"])
    address = task["cluster"]["worker"][0]
    host = FakeHost(env=cluster[1], request=Request(strategies=ASKED), peers={address: None})
    run = workers.train(host, REAL, 0)
    assert (run.status, run.worker_faults[0].how, run.worker_faults[0].worker) == ("failed", "port taken", "worker 0")


@pytest.mark.parametrize(
    ("framework", "env", "reason"),
    [
        (
            FakeChild(KerasImported(KerasImport(imported=True, backend="jax"))),
            {},
            "Keras runs on jax here; TensorFlow's strategies cannot train it",
        ),
        (FakeChild(), {}, "Keras runs on no backend here; TensorFlow's strategies cannot train it"),
        (REAL, {"TF_CONFIG": "["}, "TF_CONFIG can't be used: it is not valid JSON at character 2"),
    ],
)
def test_reasons_to_skip(framework, env, reason):
    run = workers.train(FakeHost(env=env, request=Request(strategies=ASKED)), framework, 0)
    assert (run.status, run.reason, run.strategy) == ("skipped", reason, "multi_worker_mirrored")


def test_worker_that_fails_to_start_is_reported():
    run = workers.train(FakeHost(request=Request(strategies=ASKED)), REAL, 0)
    assert run.status == "failed"
    assert run.reason == "worker 0, worker 1: not started: no such child in this test"
