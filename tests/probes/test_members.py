"""Which workers train together: two here unless the environment's are asked for, and why not where they can't be."""

import json
import sys

import pytest
from fakes import FakeHost

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes._members import members

ASKED = Request(strategies=("multi_worker_mirrored",))
FULL = Request(level=2)
TWO = {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}
STEP = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_NODELIST": "n[1-2]",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_PROCID": "3",
}


def config(jobs=None, kind="worker", index=0):
    return {"TF_CONFIG": json.dumps({"cluster": TWO if jobs is None else jobs, "task": {"type": kind, "index": index}})}


def among(env=None, request=ASKED):
    return members(FakeHost(env=env, request=request))


def test_two_workers_on_this_machine():
    for request in (ASKED, FULL):
        found = among(request=request)
        assert (found.source, found.names, found.note, found.joined) == ("this machine", ("worker 0", "worker 1"), None, False)
        assert [start.tf_config["task"] for start in found.starts] == [
            {"type": "worker", "index": 0},
            {"type": "worker", "index": 1},
        ]
        assert all(address.startswith("127.0.0.1:") for address in found.starts[0].tf_config["cluster"]["worker"])
        assert [start.gpus for start in found.starts] == [(), ()]


def test_this_process_joins_the_workers_of_tf_config():
    found = among(config({"chief": ["a:1"], "worker": ["b:1", "c:1"], "evaluator": ["d:1"]}, index=1))
    assert (found.source, found.joined) == ("TF_CONFIG", True)
    assert found.names == ("chief 0", "worker 0", "worker 1")
    assert found.addresses == {"chief 0": ("a", 1), "worker 0": ("b", 1), "worker 1": ("c", 1)}
    (own,) = found.starts
    assert (own.place, own.gpus) == (2, None)
    assert own.tf_config["task"] == {"type": "worker", "index": 1}


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        ({"TF_CONFIG": "{'cluster'"}, "TF_CONFIG can't be used: it is not valid JSON"),
        (config(index=2), "TF_CONFIG can't be used: this task is worker 2"),
        (config({**TWO, "ps": ["c:1"]}), "parameter servers"),
        (config({**TWO, "ps": ["c:1"]}, kind="ps"), "parameter servers"),
        (config({"ps": ["c:1"], "chief": ["d:1"]}, kind="chief"), "parameter servers"),
        (config(kind="evaluator"), "evaluator"),
        ({**STEP, "SLURM_STEP_NUM_TASKS": "9"}, "can't be read from Slurm: its variables speak of 9 tasks"),
        ({**STEP, "SLURMD_NODENAME": "n1"}, "alphabetical order"),
    ],
)
def test_why_none_can_be_joined(env, reason):
    assert reason in among(env)
    assert among(env, FULL).source == "this machine"


@pytest.mark.parametrize(
    ("env", "request_", "note"),
    [
        (config(), FULL, "the 2 workers of TF_CONFIG train together where each runs gpucheck --strategy multi_worker_mirrored"),
        (STEP, FULL, "the 4 tasks of this Slurm step train together where each runs"),
        ({**STEP, "SLURM_STEP_NODELIST": ""}, ASKED, "no step of the Slurm job"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "1"}, ASKED, "Kubernetes tells a pod no addresses"),
    ],
)
def test_why_two_here_and_not_the_others(env, request_, note):
    found = among(env, request_)
    assert found.source == "this machine"
    assert note in found.note


@pytest.mark.parametrize(
    "env",
    [
        config({"worker": ["a:1"]}),
        {"TF_CONFIG": "{}"},
        {**STEP, "SLURM_STEP_NODELIST": "n1", "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"},
        {"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
    ],
)
def test_a_cluster_of_one_is_none(env):
    found = among(env)
    assert (found.source, found.note) == ("this machine", None)


def test_the_tasks_of_a_slurm_step():
    found = among(STEP)
    assert (found.source, found.names) == ("Slurm", ("worker 0", "worker 1", "worker 2", "worker 3"))
    assert found.starts[0].tf_config == {
        "cluster": {"worker": ["n1:8888", "n1:8889", "n2:8888", "n2:8889"]},
        "task": {"type": "worker", "index": 3},
    }
    assert found.addresses["worker 2"] == ("n2", 8888)


@pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
def test_the_gpus_are_shared_out(driver_host):
    def gpus(count, request, **env):
        with driver_host({"gpus": count}, **env) as host, LocalHost(request, env=host.env) as asked:
            found = members(asked)
            return [start.gpus for start in found.starts]

    assert gpus(8, FULL) == [(0,), (1,)]
    assert gpus(1, FULL) == [(), ()]
    assert gpus(8, ASKED, **config()) == [None]
    assert gpus(8, ASKED, **STEP) == [(4, 5, 6, 7)]  # the second of its node's two
    assert gpus(1, ASKED, **STEP) == [None]
    assert gpus(4, ASKED, **STEP, SLURM_GPUS_PER_TASK="4") == [None]
