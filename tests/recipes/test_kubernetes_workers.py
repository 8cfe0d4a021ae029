"""An Indexed Job's workers and the taint of a node, which the schema can't check."""

import os
import sys

import pytest
import yaml
from recipe_helpers import RECIPES, accepts, program, run, tool

from gpucheck.core.cluster.tf_config import Parsed

TAINTED = "gpucheck/gpu-problem"


def documents(name):
    return {one["kind"]: one for one in yaml.safe_load_all((RECIPES / "kubernetes" / name).read_text())}


def test_each_pod_gets_a_tf_config_with_the_names_of_all_pods():
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


def container():
    return documents("node-taint.yaml")["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]


def script():
    return container()["args"][0]


def switches(**values):
    """The manifest's switches, with these changes."""
    return {one["name"]: one["value"] for one in container()["env"]} | values


def tainted(tmp_path, nodes, **values):
    """The script's kubectl commands for these nodes, and its output."""
    commands_file = tmp_path / "commands_file"
    body = f"case $1 in get) printf '%s\\n' '{nodes}' ;; *) echo \"$@\" >>'{commands_file}' ;; esac"
    program(tmp_path / "kubectl", f"#!/bin/sh\n{body}\n")
    done = run(["sh", "-c", script()], {"PATH": f"{tmp_path}:{os.environ['PATH']}", **switches(**values)})
    assert (done.returncode, done.stderr) == (0, "")
    return (commands_file.read_text().splitlines() if commands_file.exists() else []), done.stdout.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
@pytest.mark.parametrize("recover", ["yes", "no"])
def test_faulty_node_is_tainted_once_and_untainted_only_with_recover(tmp_path, recover):
    nodes = f"bad True \nstill True {TAINTED}\nwell False other {TAINTED}\nsound False other\nnew  \nunknown Unknown {TAINTED}"
    taints, printed = tainted(tmp_path, nodes, BUDGET="9", RECOVER=recover)
    removed = [f"taint nodes well {TAINTED}:NoSchedule-"] if recover == "yes" else []
    assert (taints, printed) == ([f"taint nodes bad {TAINTED}=true:NoSchedule", *removed], [])


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
@pytest.mark.parametrize(
    ("values", "healthy", "count"),
    [
        ({}, 17, 2),  # 10 % of 20 nodes
        ({}, 2, 1),  # at least one
        ({"BUDGET": "3"}, 2, 3),
        ({"BUDGET": "0"}, 2, 0),
        ({"BUDGET": "many"}, 2, 0),
        ({"MODE": "monitor"}, 17, 0),
    ],
)
def test_number_of_tainted_nodes_is_limited_by_the_budget(tmp_path, values, healthy, count):
    nodes = [*(f"bad{number} True " for number in range(3)), *(f"healthy{number} False " for number in range(healthy))]
    taints, printed = tainted(tmp_path, "\n".join(nodes), **values)
    assert len(taints) == count
    assert [line.split()[0] for line in printed] == [f"bad{number}" for number in range(count, 3)]
    earlier = [node.replace(" ", f"-before True {TAINTED}", 1)[: -len("True ")] for node in nodes[:count]]
    (tmp_path / "commands_file").unlink(missing_ok=True)
    assert tainted(tmp_path, "\n".join([*nodes, *earlier]), **values)[0] == taints[len(earlier) :]


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
@pytest.mark.parametrize(
    ("shell", "values"), [("sh", {"BUDGET": "1"}), ("dash", {}), ("bash", {"BUDGET": "9", "RECOVER": "yes"})]
)
def test_failure_to_taint_a_node_does_not_prevent_taints_of_other_nodes(tmp_path, shell, values):
    nodes = f"gone True \nstays False {TAINTED}\nbad True " if "RECOVER" in values else "gone True \nbad True "
    commands_file = tmp_path / "commands_file"
    body = f"case \"$*\" in get*) printf '%s\n' '{nodes}' ;; *gone*|*stays*) exit 1 ;; *) echo \"$@\" >>'{commands_file}' ;; esac"
    program(tmp_path / "kubectl", f"#!/bin/sh\n{body}\n")
    done = run([tool(shell), "-c", script()], {"PATH": f"{tmp_path}:{os.environ['PATH']}", **switches(**values)})
    assert commands_file.read_text() == f"taint nodes bad {TAINTED}=true:NoSchedule\n"
    assert done.returncode != 0  # the Job has failed


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_job_fails_if_the_server_does_not_respond(tmp_path):
    program(tmp_path / "kubectl", "#!/bin/sh\nexit 1\n")
    assert run(["sh", "-c", script()], {"PATH": f"{tmp_path}:{os.environ['PATH']}", **switches()}).returncode != 0


def test_condition_matches_the_node_problem_detector():
    reported = (RECIPES / "kubernetes/node-problem-detector.yaml").read_text()
    assert '"type": "GPUProblem"' in reported
    assert '@.type=="GPUProblem"' in script()


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_shellcheck_has_no_findings(tmp_path):
    accepts("shellcheck", "--shell=sh", program(tmp_path / "taint.sh", script()))


@pytest.mark.parametrize("name", ["job.yaml", "workers-job.yaml"])
def test_training_containers_have_shared_memory(name):
    pod = documents(name)["Job"]["spec"]["template"]["spec"]
    (volume,) = [one["name"] for one in pod["volumes"] if one.get("emptyDir", {}).get("medium") == "Memory"]
    for one in (*pod["initContainers"], *pod["containers"]):
        assert {"name": volume, "mountPath": "/dev/shm"} in one["volumeMounts"]
