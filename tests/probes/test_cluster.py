"""TF_CONFIG as TensorFlow judges it, and what a scheduler says."""

import json

import pytest
from fakes import FakeHost

from gpucheck.model import Level, Request
from gpucheck.probes import cluster

WORKERS = ["10.0.0.1:2222", "10.0.0.2:2222"]


def config(jobs=None, kind="worker", index=0, **more):
    return {"cluster": {"worker": WORKERS} if jobs is None else jobs, "task": {"type": kind, "index": index}, **more}


def read(value, level=Level.QUICK, **more):
    text = value if isinstance(value, str) else json.dumps(value)
    return cluster.read(FakeHost(env={"TF_CONFIG": text}, request=Request(level=level), **more))


def test_a_worker_of_two():
    fact = read(config(index=1))
    assert fact.configured
    assert fact.problems == ()
    assert (fact.task_type, fact.task_index, fact.jobs, fact.worker_count) == ("worker", 1, {"worker": 2}, 2)
    assert fact.tested is None


@pytest.mark.parametrize("value", ["", "  \n"])
def test_an_empty_value_is_none(value):
    assert not read(value).configured


@pytest.mark.parametrize(
    "value",
    [
        config({"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}),
        config({"worker": {"0": "a:1", "3": "b:1"}}, index=3),
        config(index="1"),
        config({"worker": ["a:1"]}, kind="evaluator"),
        config({"worker": ["localhost:1", "localhost:2"]}),
        config({"worker": ["[fe80::1]:2222", "node-2.example:2222"]}),
        {"cluster": {}, "task": {"type": "worker", "index": 0}},
        {},
        config(environment="cloud"),
    ],
)
def test_what_tensorflow_accepts(value):
    assert read(value).problems == ()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("{'cluster': {}}", "it is not valid JSON at character 2; JSON wants double quotes"),
        ('{"cluster": ', "it is not valid JSON at character 12"),
        ("[" * 5000, "it is no JSON that can be read: its brackets are nested too deeply"),
        ('{"cluster":' * 5000, "it is no JSON that can be read: its brackets are nested too deeply"),
        ("[1]", "it is no JSON object"),
        ({"cluster": []}, "its cluster is no JSON object"),
        (config({"worker": "a:1"}), 'its cluster\'s "worker" is no list of addresses'),
        (config({"workers": WORKERS}, kind="workers"), 'its cluster has a job "workers"; TensorFlow knows chief, worker, ps'),
        (config({"master": ["a:1"], "worker": ["b:1"]}, kind="master"), 'its cluster has a job "master"'),
        (config({"chief": ["a:1", "b:1"]}, kind="chief"), "its cluster has 2 chiefs; there can be one"),
        ({"cluster": {"worker": WORKERS}}, "it does not say which task this process is"),
        ({"cluster": {"worker": WORKERS}, "task": {"type": "worker"}}, "it does not say which task this process is"),
        (config(index=-1), "its task's index is no number from 0 on"),
        (config(index="9" * 5000), "its task's index is no number from 0 on"),
        (config({"worker": {"9" * 5000: "a:1"}}), 'its cluster\'s "worker" is no list of addresses'),
        (config(index=None), "its task's index is no number from 0 on"),
        (config(kind=3), "its task's type is no text"),
        (config(kind="chief"), 'this task is a "chief", and the cluster has none'),
        (config(index=2), "this task is worker 2, and the cluster has 2 of them (counted from 0)"),
        (config({"worker": ["a:1", "a:1"]}), "worker 0 and worker 1 have the same address"),
        (config({"worker": ["a", "b:1"]}), "the address of worker 0 is not of the form host:port"),
        (config({"worker": ["a:1", "http://b:1"]}), "the address of worker 1 is not of the form host:port"),
        (config({"worker": ["a:1", "b:99999"]}), "the address of worker 1 is not of the form host:port"),
        (config({"worker": ["a:1", 7]}), "the address of worker 1 is not of the form host:port"),
        (config({"worker": ["localhost:1", "b:1"]}), "some of its addresses are this machine's own"),
    ],
)
def test_what_it_rejects_or_cannot_work(value, problem):
    problems = read(value).problems
    assert len(problems) == 1
    assert problem in problems[0]


def test_no_host_name_is_kept():
    jobs = {"worker": ["secret-host:1", "secret-host:1", "secret-host"]}
    assert "secret" not in str(read(config(jobs, index=9), Level.FULL))


def test_nobody_is_connected_to_unless_asked():
    host = FakeHost(env={"TF_CONFIG": json.dumps(config())})
    cluster.read(host)
    assert host.connected == []


def test_with_full_the_other_tasks_are_connected_to():
    jobs = {"worker": [*WORKERS, "10.0.0.3:2222", "10.0.0.4:2222"], "ps": ["10.0.0.5:2222"]}
    peers = {"10.0.0.2:2222": None, "10.0.0.3:2222": "refused", "10.0.0.4:2222": "timed out", "10.0.0.5:2222": "no such name"}
    host = FakeHost(env={"TF_CONFIG": json.dumps(config(jobs))}, request=Request(level=Level.FULL), peers=peers)
    fact = cluster.read(host)
    assert fact.tested == 4
    assert [(one.task, one.reason) for one in fact.unreachable] == [("worker 3", "timed out"), ("ps 0", "no such name")]
    assert "10.0.0.1:2222" not in host.connected


def test_a_cluster_of_one_has_nobody_to_reach():
    assert read(config({"worker": ["a:1"]}), Level.FULL).tested is None


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "16", "SLURM_PROCID": "3"}, ("slurm", 2, 16, 3)),
        ({"SLURM_JOB_ID": "7", "SLURM_NTASKS": "many"}, ("slurm", None, None, None)),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "2"}, ("kubernetes", None, None, 2)),
        ({"SLURM_NTASKS": "16"}, (None, None, None, None)),
    ],
)
def test_schedulers(env, expected):
    fact = cluster.read(FakeHost(env=env))
    assert (fact.scheduler, fact.scheduler_nodes, fact.scheduler_tasks, fact.scheduler_index) == expected
    assert not fact.configured
