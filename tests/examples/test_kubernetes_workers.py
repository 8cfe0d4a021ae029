"""An Indexed Job's workers and the taint of a node: what the schema can't see."""

import os
import sys

import pytest
import yaml
from recipes import EXAMPLES, accepts, program, run

from gpucheck.core.cluster.tf_config import Parsed

TAINTED = "gpucheck/gpu-problem"


def documents(name):
    return {one["kind"]: one for one in yaml.safe_load_all((EXAMPLES / "kubernetes" / name).read_text())}


def test_each_pod_finds_all_the_others_by_their_names():
    both = documents("workers-job.yaml")
    service, job = both["Service"], both["Job"]["spec"]
    pod = job["template"]["spec"]
    (init,), (main,) = pod["initContainers"], pod["containers"]
    assert (init["env"], init["image"], init["resources"]) == (main["env"], main["image"], main["resources"])
    index, config = init["env"]  # the index comes first, or $(INDEX) stays as it is
    assert index["name"] == "INDEX"
    for place in range(job["completions"]):
        parsed = Parsed(config["value"].replace("$(INDEX)", str(place)))
        assert (parsed.problems, parsed.task) == ([], f"worker {place}")
        host, port = parsed.addresses()[f"worker {place}"]
        assert (host, port) == (
            f"{both['Job']['metadata']['name']}-{place}.{pod['subdomain']}",
            service["spec"]["ports"][0]["port"],
        )
        assert len(parsed.jobs["worker"]) == job["completions"] == job["parallelism"]
    assert service["metadata"]["name"] == pod["subdomain"]
    assert service["spec"]["selector"] == {"job-name": both["Job"]["metadata"]["name"]}
    assert service["spec"]["publishNotReadyAddresses"]
    assert job["completionMode"] == "Indexed"


def script():
    pod = documents("node-taint.yaml")["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return pod["containers"][0]["args"][0]


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_a_node_with_a_problem_is_tainted_once_and_a_sound_one_no_longer(tmp_path):
    nodes = f"bad True \nstill True {TAINTED}\nwell False other {TAINTED}\nsound False other\nnew  \nunknown Unknown {TAINTED}"
    said = tmp_path / "said"
    body = f"case $1 in get) printf '%s\\n' '{nodes}' ;; *) echo \"$@\" >>'{said}' ;; esac"
    program(tmp_path / "kubectl", f"#!/bin/sh\n{body}\n")
    done = run(["sh", "-c", script()], {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (done.returncode, done.stderr) == (0, "")
    assert said.read_text().splitlines() == [
        f"taint nodes bad {TAINTED}=true:NoSchedule",
        f"taint nodes well {TAINTED}:NoSchedule-",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_a_server_that_does_not_answer_is_a_failed_job(tmp_path):
    program(tmp_path / "kubectl", "#!/bin/sh\nexit 1\n")
    assert run(["sh", "-c", script()], {"PATH": f"{tmp_path}:{os.environ['PATH']}"}).returncode != 0


def test_the_condition_is_the_one_that_is_reported():
    reported = (EXAMPLES / "kubernetes/node-problem-detector.yaml").read_text()
    assert '"type": "GPUProblem"' in reported
    assert '@.type=="GPUProblem"' in script()


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_shellcheck_finds_nothing(tmp_path):
    accepts("shellcheck", "--shell=sh", program(tmp_path / "taint.sh", script()))
