"""Which workers train together: two here unless the environment's are asked for, and why not where they can't be."""

import json
import sys

import fake_kubernetes
import pytest
from fakes import FakeChild, FakeHost

from gpucheck.child.messages.cluster import Account, Answer
from gpucheck.cluster.kubernetes_api import FOLDER
from gpucheck.cluster.members import members
from gpucheck.host.local import LocalHost
from gpucheck.model import Request

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
POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "train-1", "JOB_COMPLETION_INDEX": "1"}
PODS = fake_kubernetes.job_pods(3)


def config(jobs=None, kind="worker", index=0):
    return {"TF_CONFIG": json.dumps({"cluster": TWO if jobs is None else jobs, "task": {"type": kind, "index": index}})}


def among(env=None, request=ASKED):
    return members(FakeHost(env=env, request=request))


def test_two_workers_on_this_machine():
    for request in (ASKED, FULL):
        found = among(request=request)
        assert (found.source, found.names, found.note, found.joined) == ("this machine", ("worker 0", "worker 1"), None, False)
        assert [json.loads(start.tf_config)["task"] for start in found.starts] == [
            {"type": "worker", "index": 0},
            {"type": "worker", "index": 1},
        ]
        assert all(address.startswith("127.0.0.1:") for address in json.loads(found.starts[0].tf_config)["cluster"]["worker"])
        assert [start.gpus for start in found.starts] == [(), ()]


def test_this_process_joins_the_workers_of_tf_config():
    found = among(config({"chief": ["a:1"], "worker": ["b:1", "c:1"], "evaluator": ["d:1"]}, index=1))
    assert (found.source, found.joined) == ("TF_CONFIG", True)
    assert found.names == ("chief 0", "worker 0", "worker 1")
    assert found.addresses == {"chief 0": ("a", 1), "worker 0": ("b", 1), "worker 1": ("c", 1)}
    (own,) = found.starts
    assert (own.place, own.gpus) == (2, None)
    assert json.loads(own.tf_config)["task"] == {"type": "worker", "index": 1}


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
        (POD, "the other pods of this Job can't be found: no service account token is mounted"),
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
        (POD, FULL, "the pods of this Job train together where each runs gpucheck --strategy multi_worker_mirrored"),
        ({**POD, "JOB_COMPLETION_INDEX": ""}, ASKED, "not known: no service account token is mounted"),
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
    ],
)
def test_a_cluster_of_one_is_none(env):
    found = among(env)
    assert (found.source, found.note) == ("this machine", None)


def test_the_tasks_of_a_slurm_step():
    found = among(STEP)
    assert (found.source, found.names) == ("Slurm", ("worker 0", "worker 1", "worker 2", "worker 3"))
    assert json.loads(found.starts[0].tf_config) == {
        "cluster": {"worker": ["n1:8888", "n1:8889", "n2:8888", "n2:8889"]},
        "task": {"type": "worker", "index": 3},
    }
    assert found.addresses["worker 2"] == ("n2", 8888)


def in_pod(*answers, request=ASKED, remaining=60.0, **env):
    """In a pod of a Job whose API server gives these answers; the second is the Job itself."""
    numbered = ((str(number), answer) for number, answer in enumerate(answers, 1))
    child = FakeChild(Account("ml", "train-1-b9qsl", "system:serviceaccount:ml:trainer"), *numbered)
    host = FakeHost(
        {f"{FOLDER}/token": "secret"}, env={**POD, **env}, request=request, children={"kubernetes": child}, remaining=remaining
    )
    return members(host), child


def these(*objects):
    return Answer(list(objects))


def test_the_pods_of_a_job():
    found, child = in_pod(these(PODS[1]), these({"spec": {"parallelism": 3}}), these(*PODS))
    assert (found.source, found.joined, found.names, found.note) == (
        "Kubernetes",
        True,
        ("worker 0", "worker 1", "worker 2"),
        None,
    )
    (own,) = found.starts
    assert (own.place, own.gpus) == (1, None)
    assert json.loads(own.tf_config) == {
        "cluster": {"worker": ["10.1.2.10:8470", "10.1.2.11:8470", "10.1.2.12:8470"]},
        "task": {"type": "worker", "index": 1},
    }
    assert found.addresses["worker 2"] == ("10.1.2.12", 8470)
    assert [question.path for question in child.sent] == [
        "/api/v1/namespaces/ml/pods",
        "/apis/batch/v1/namespaces/ml/jobs/train",
        "/api/v1/namespaces/ml/pods",
        "",
    ]
    six = [{**pod, "status": {**pod["status"], "podIP": "fd00::1"}} for pod in PODS[1:2]]
    found, _ = in_pod(these(PODS[1]), these(), these(*PODS[:1], *six, PODS[2]))
    assert found.addresses["worker 1"] == ("fd00::1", 8470)


def test_pods_that_can_not_train_together():
    found, _ = in_pod(these(PODS[1]), these(), these(PODS[1], PODS[2]), remaining=0.0)
    assert found.startswith(
        "the pods of this Kubernetes cluster can't train together: not all pods of the Job run: worker 0: has no"
    )


def test_a_pod_without_others():
    found, _ = in_pod(these(fake_kubernetes.pod("notebook", owner=None)))
    assert (found.source, "belongs to no Job" in found.note) == ("this machine", True)
    alone = fake_kubernetes.pod("train-1-b9qsl", "10.1.2.3", {"job-name": "train"})
    found, _ = in_pod(these(alone), these(), these(alone))
    assert (found.source, found.note) == ("this machine", "two workers on this machine: this pod is the only one of its Job")


def test_pods_that_may_not_be_listed():
    forbidden = Answer(problem="status", status=403)
    found, _ = in_pod(forbidden)
    assert found.startswith("the other pods of this Job can't be found: this pod's service account may not list pods")
    assert found.endswith("; gpucheck --full trains two workers on this machine")
    found, _ = in_pod(forbidden, JOB_COMPLETION_INDEX="")
    assert (found.source, "--serviceaccount=ml:trainer" in found.note) == ("this machine", True)


def test_the_api_server_is_asked_only_on_request_and_last():
    for request, env in ((FULL, {}), (ASKED, config()), (ASKED, STEP)):
        found, child = in_pod(request=request, **env)
        assert (found.source == "Kubernetes", child.sent) == (False, [])


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
