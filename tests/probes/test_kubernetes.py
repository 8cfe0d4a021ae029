"""The pods of a Job or similar, requested from a real HTTPS server by the real child, and whether they can train together."""

import importlib.util
import json
import os
import subprocess
import sys

import fake_kubernetes
import pytest
from case_files import program, table
from fake_kubernetes import INDEX, JOBS, STATEFUL_SETS, job_pods, pod

JOB = {"metadata": {"name": "train"}, "spec": {"parallelism": 3, "completions": 3, "completionMode": "Indexed"}}


class TestWhoTrainsTogether:
    def test_pods_of_an_indexed_job(self, api_server, ask_pods):
        api_server.pods = [
            *job_pods(3),
            *job_pods(2, "10.9.9.{}", "other"),
            pod("train-1-dead0", "10.1.2.99", server_labels(1), phase="Failed", created="2026-05-01T07:00:00Z"),
            pod("train-2-old00", "10.1.2.98", server_labels(2), created="2026-05-01T07:59:00Z"),
            pod("train-0-going", "10.1.2.97", server_labels(0), created="2026-05-01T08:59:00Z", deleted=True),
        ]
        api_server.made = {JOBS + "train": JOB}
        api_server.tokens = [fake_kubernetes.token("train-1-b9qsl")]
        found = ask_pods("train-1-b9qsl")
        assert found == (("10.1.2.10:8470", "10.1.2.11:8470", "10.1.2.12:8470"), 1)

    def test_index_in_an_annotation(self, api_server, ask_pods):
        labels = {"job-name": "train", "controller-uid": "uid-of-train"}
        api_server.pods = [
            pod("train-0-zzzzz", "10.0.0.1", labels, annotations={INDEX: "0"}),
            pod("train-1-aaaaa", "10.0.0.2", labels, annotations={INDEX: "1"}),
        ]
        assert ask_pods("train-0-zzzzz") == (("10.0.0.1:8470", "10.0.0.2:8470"), 0)

    def test_pods_of_a_job_without_indexes_are_sorted_by_name(self, api_server, ask_pods):
        labels = {"batch.kubernetes.io/job-name": "train"}
        api_server.pods = [pod(f"train-{suffix}", f"10.0.0.{n}", labels) for n, suffix in enumerate(("zzz", "mmm", "aaa"))]
        assert ask_pods("train-zzz") == (("10.0.0.2:8470", "10.0.0.1:8470", "10.0.0.0:8470"), 2)

    def test_pods_of_a_replicated_job_in_a_job_set(self, api_server, ask_pods):
        def labels(role, job, index):
            own = {"jobset-name": "big", "replicatedjob-name": role, "replicatedjob-replicas": "2", "job-index": str(job)}
            return {
                **{f"jobset.sigs.k8s.io/{name}": value for name, value in own.items()},
                "batch.kubernetes.io/job-name": f"big-{role}-{job}",
                INDEX: str(index),
            }

        api_server.pods = [
            pod(
                f"big-{role}-{job}-{index}-abcde",
                f"10.{len(role)}.{job}.{index}",
                labels(role, job, index),
                ("Job", f"big-{job}"),
            )
            for role in ("node", "initializer")
            for job in (1, 0)
            for index in (1, 0)
        ]
        api_server.made = {JOBS + "big-1": {"spec": {"parallelism": 2, "completions": 2}}}
        addresses = ("10.4.0.0:8470", "10.4.0.1:8470", "10.4.1.0:8470", "10.4.1.1:8470")
        assert ask_pods("big-node-1-0-abcde") == (addresses, 2)
        api_server.pods.pop(0)
        assert "only 3 of 4 pods exist" in ask_pods("big-node-1-0-abcde", waits=False)

    def test_pods_of_a_stateful_set_are_sorted_by_number(self, api_server, ask_pods):
        def one(name, n):
            labels = {"app": "tf", "apps.kubernetes.io/pod-index": str(n), "statefulset.kubernetes.io/pod-name": f"{name}-{n}"}
            return pod(f"{name}-{n}", f"10.0.{len(name)}.{n}", labels, ("StatefulSet", name))

        api_server.pods = [one(name, n) for name in ("tf", "tf-other") for n in range(11)]
        api_server.made = {STATEFUL_SETS + "tf": {"spec": {"replicas": 11}}}
        assert ask_pods("tf-10") == (tuple(f"10.0.2.{n}:8470" for n in range(11)), 10)

    def test_pods_of_a_leader_worker_set(self, api_server, ask_pods):
        def one(group, index):
            own = {"name": "lws", "group-index": str(group), "worker-index": str(index)}
            labels = {f"leaderworkerset.sigs.k8s.io/{name}": value for name, value in own.items()}
            owner = ("StatefulSet", f"lws-{group}" if index else "lws")
            size = {"leaderworkerset.sigs.k8s.io/size": "3"}
            return pod(f"lws-{group}-{index}", f"10.0.{group}.{index}", labels, owner, annotations=size)

        api_server.pods = [one(group, index) for group in range(2) for index in range(3)]
        assert ask_pods("lws-1-0") == (("10.0.1.0:8470", "10.0.1.1:8470", "10.0.1.2:8470"), 0)
        api_server.pods.pop()
        assert "worker 2: has no pod" in ask_pods("lws-1-0", waits=False)

    def test_ipv6_addresses_are_bracketed(self, api_server, ask_pods):
        api_server.pods = job_pods(2, "fd00:10:244::{}")
        assert ask_pods("train-0-x7f2k").addresses == ("[fd00:10:244::10]:8470", "[fd00:10:244::11]:8470")

    def test_pod_name_from_hostname_if_the_token_has_none(self, api_server, ask_pods):
        api_server.pods = [
            pod(f"train-{suffix}", f"10.0.0.{n}", {"job-name": "train"}) for n, suffix in enumerate(("aaa", "bbb"))
        ]
        assert ask_pods("", claimed=False, HOSTNAME="train-bbb").number == 1
        assert "has no pod named 'train-0'" in ask_pods("", claimed=False)

    def test_pages_of_a_long_list_are_joined(self, api_server, ask_pods):
        api_server.pods, api_server.page = job_pods(5), 2
        assert ask_pods("train-4-k3k3k").addresses == tuple(f"10.1.2.{n + 10}:8470" for n in range(5))

    def test_proxies_are_not_used(self, api_server, ask_pods):
        api_server.pods = job_pods(2)
        assert ask_pods("train-0-x7f2k", HTTPS_PROXY="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9").number == 0


def server_labels(index):
    return {"batch.kubernetes.io/job-name": "train", INDEX: str(index)}


class TestNotAllRun:
    def test_pod_that_starts_later_is_awaited(self, api_server, ask_pods):
        pending = [job_pods(2)[0], *job_pods(2, address="", phase="Pending", waiting="ContainerCreating")[1:]]
        api_server.pods = lambda listed: pending if listed < 2 else job_pods(2)
        assert ask_pods("train-0-x7f2k").number == 0
        assert api_server.listed == 2

    @table
    def test_pod_that_never_starts_is_reported_with_its_reason(self, api_server, ask_pods, second, words):
        api_server.pods = [job_pods(1)[0], job_pods(3)[2], *([job_pods(2, address="", **second)[1]] if second else [])]
        said = ask_pods("train-0-x7f2k", waits=False)
        assert said.startswith("Unusable: not all pods of the Job are running: worker 1: ")
        assert words in said
        assert api_server.listed == 1

    def test_missing_pods_of_a_job_are_reported(self, api_server, ask_pods):
        api_server.pods, api_server.made = job_pods(1), {JOBS + "train": {"spec": {"parallelism": 9}}}
        said = ask_pods("train-0-x7f2k", waits=False)
        assert "worker 1: has no pod; worker 2: has no pod; worker 3: has no pod; worker 4: has no pod; and 4 more (" in said

    def test_incomplete_stateful_set_is_reported(self, api_server, ask_pods):
        api_server.pods = [pod("tf-0", "10.0.0.1", {"app": "tf"}, ("StatefulSet", "tf"))]
        assert "Alone: this pod is the only one of its StatefulSet; it creates them one after the other" in ask_pods("tf-0")
        api_server.made = {STATEFUL_SETS + "tf": {"spec": {"replicas": 2}}}
        assert "only 1 of 2 pods exist; it creates them one after the other unless its podManagementPolicy" in ask_pods(
            "tf-0", 2.0
        )


class TestNoCluster:
    def test_single_pod_has_no_cluster(self, api_server, ask_pods):
        api_server.pods, api_server.made = job_pods(1), {JOBS + "train": {"spec": {"parallelism": 1}}}
        assert ask_pods("train-0-x7f2k") == "Alone: this pod is the only one of its Job"
        api_server.pods = [pod("notebook-0", "10.0.0.1", {"app": "jupyter"}, ("ReplicaSet", "notebook"))]
        assert ask_pods("notebook-0").startswith("Alone: this pod belongs to no Job")

    def test_pods_that_share_a_host_network_are_reported(self, api_server, ask_pods):
        api_server.pods = job_pods(2, "192.168.7.7")
        assert "worker 0 and worker 1 share a node's network (hostNetwork) and its one port 8470" in ask_pods("train-0-x7f2k")

    def test_replaced_pod_is_reported(self, api_server, ask_pods):
        api_server.pods = [*job_pods(3), pod("train-0-going", "10.1.2.97", server_labels(0), deleted=True)]
        assert ask_pods("train-0-going").startswith("Unusable: this pod is being terminated or replaced")

    def test_server_that_fails_after_the_first_response_is_reported(self, api_server, ask_pods):
        api_server.pods = lambda listed: job_pods(2) if not listed else 1 / 0
        assert ask_pods("train-0-x7f2k").startswith("Unusable: the API server could not be queried")


RESOLVE = program("kubernetes_resolve.py")


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.slow
def test_addresses_match_the_resolver_of_tensorflow_with_host_networks(api_server, ask_pods):
    addresses = [f"192.168.7.{n}" for n in (3, 1, 2)]
    api_server.pods = [pod(f"train-{one[-1]}", one, {"job-name": "train"}, host=one) for one in addresses]
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE],
        input=json.dumps(api_server.pods),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == list(ask_pods("train-2").addresses)
