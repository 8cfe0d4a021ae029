"""Workers that train together: two local ones unless those of the environment are requested, or the reason why not."""

import json
import sys

import fake_kubernetes
import pytest
from fakes import FakeChild, FakeHost

from gpucheck.core.child.messages.cluster import Account, ApiResponse
from gpucheck.core.cluster.kubernetes_api import FOLDER
from gpucheck.core.cluster.members import members
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes.training import gpu_count

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


def in_pod(*answers, request=ASKED, remaining=60.0, **env):
    """The members in a pod of a Job whose API server gives these responses; the second is the Job itself."""
    numbered = ((str(number), answer) for number, answer in enumerate(answers, 1))
    child = FakeChild(Account("ml", "train-1-b9qsl", "system:serviceaccount:ml:trainer"), *numbered)
    host = FakeHost(
        {f"{FOLDER}/token": "secret"}, env={**POD, **env}, request=request, children={"kubernetes": child}, remaining=remaining
    )
    return members(host, 0), child


def these(*objects):
    return ApiResponse(list(objects))


OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "2"}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "MASTER_ADDR": "node-1"}


@pytest.mark.parametrize(
    ("env", "source", "place", "count"),
    [
        ({**OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, "mpirun", 2, 4),
        ({**OPEN_MPI, **STEP, "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, "mpirun", 2, 4),  # the step contains mpirun's daemons
        ({**TORCHRUN, "LOCAL_WORLD_SIZE": "2"}, "torchrun", 1, 2),
    ],
)
def test_ranks_of_one_machine_train_together(env, source, place, count):
    found = members(FakeHost(env=env, request=ASKED), 0)
    assert (found.source, found.joined, len(found.names)) == (source, True, count)
    assert found.addresses["worker 1"] == ("127.0.0.1", 8889)
    assert [start.place for start in found.starts] == [place]


def test_ranks_on_several_machines_are_reported_with_a_reason():
    env = {**OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
    assert "run on several machines, and mpirun does not provide their addresses" in members(FakeHost(env=env, request=ASKED), 0)
    assert members(FakeHost(env=env, request=FULL), 0).source == "this machine"
    garbage = {**OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "many"}
    assert members(FakeHost(env=garbage, request=ASKED), 0).source == "this machine"


def test_pods_of_a_job_train_together():
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


def test_pods_that_cannot_train_together_are_reported_with_a_reason():
    found, _ = in_pod(these(PODS[1]), these(), these(PODS[1], PODS[2]), remaining=0.0)
    assert found.startswith(
        "the pods of this Kubernetes cluster can't train together: not all pods of the Job are running: worker 0: has no"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
def test_gpus_are_shared_among_local_workers(driver_host):
    def gpus(count, request, **env):
        with driver_host({"gpus": count}, **env) as host, LocalHost(request, env=host.env) as asked:
            found = members(asked, gpu_count(asked))
            return [start.gpus for start in found.starts]

    assert gpus(8, FULL) == [(0,), (1,)]
    assert gpus(1, FULL) == [(), ()]
    assert gpus(8, ASKED, **config()) == [None]
    assert gpus(8, ASKED, **STEP) == [(4, 5, 6, 7)]  # the second worker of two on its node
    assert gpus(1, ASKED, **STEP) == [None]
    assert gpus(4, ASKED, **STEP, SLURM_GPUS_PER_TASK="4") == [None]
