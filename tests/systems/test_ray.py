"""`gpucheck fleet run` on a cluster of Ray: three raylets on this machine, whose names are host and ID."""

import contextlib
import json
import os
import pathlib
import shutil
import sys
import threading

import psutil
import pytest
from lab import fake_driver
from recipe_helpers import run
from systems.slurm import wait
from systems.training import command, died, faulty, proven, report_of

import gpucheck

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore")]
CHECKOUT = str(pathlib.Path(gpucheck.__file__).parents[1])
CHECK = ("--", "--gres", "0")  # these nodes need no GPU


@pytest.fixture
def cluster(tmp_path):
    """A head node, a healthy node, and a node whose driver lost a GPU."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed: pip install ray")
    os.environ["PYTHONPATH"] = f"{CHECKOUT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    made = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    driver = fake_driver.build(tmp_path / "driver")
    scenario = fake_driver.write_scenario(tmp_path / "scenario", {"gpus": 2, "gpu.1.lost": 1})
    made.add_node(num_cpus=1, env_vars={"LD_LIBRARY_PATH": str(driver), "FAKE_DRIVER": str(scenario)})
    yield made
    made.shutdown()


def fleet(cluster, *arguments, timeout=150):
    argv = [sys.executable, "-m", "gpucheck", "fleet", "run", "--engine", "ray", "--address", cluster.address, "--format", "json"]
    done = run([*argv, *arguments], timeout=timeout)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_every_node_is_checked_and_a_fault_is_named(cluster):
    code, report = fleet(cluster, *CHECK)
    assert (code, report["counts"], report["unreached"]) == (1, {"pass": 2, "fail": 1}, {})
    assert [(cause["code"], cause["count"]) for cause in report["causes"]] == [("gpu-lost", 1)]


def test_node_that_dies_during_its_check_is_named_and_the_others_complete(cluster, tmp_path):
    hangs = fake_driver.write_scenario(tmp_path / "hangs", {"nvmlInit_v2": "hang", "cuInit": "hang"})
    driver = {"LD_LIBRARY_PATH": str(tmp_path / "driver"), "FAKE_DRIVER": str(hangs)}
    dying = cluster.add_node(num_cpus=1, env_vars=driver)

    def die():
        wait(lambda: is_checking(str(hangs)), 100, "the check on the node that dies")
        cluster.remove_node(dying, allow_graceful=False)

    killer = threading.Thread(target=die, daemon=True)
    killer.start()
    code, report = fleet(cluster, "--node-limit", "90", *CHECK, "--timeout", "60")
    killer.join()
    assert (code, report["counts"]) == (1, {"pass": 2, "fail": 1})
    ((why, part),) = report["unreached"].items()
    assert part["count"] == 1
    assert why.startswith("NodeDiedError: Task failed because the node it was running on is dead")


def is_checking(scenario):
    """Whether a gpucheck process is checking the node with this driver."""
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            if "gpucheck" in (process.info["cmdline"] or []) and process.environ().get("FAKE_DRIVER") == scenario:
                return True
    return False


@pytest.fixture
def workers(tmp_path):
    """Create a cluster of a given size, whose worker 1 may have a fault."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed: pip install ray")
    made = []

    def make(count, **env):
        made.append(cluster_utils.Cluster())
        for _ in range(count):
            made[0].add_node(num_cpus=1, env_vars={"PYTHONPATH": CHECKOUT, "CUDA_VISIBLE_DEVICES": "-1", **env})
        return made[0].address

    yield make
    made[0].shutdown()


@pytest.mark.tensorflow
@pytest.mark.parametrize("count", [2, 3])
def test_workers_on_all_nodes_train_together(workers, count):
    done = run(command("ray", "--address", workers(count)), timeout=200)
    fleet = report_of(done, count)
    proven(fleet["training"], count)
    assert (done.returncode, fleet["unreached"]) == (0, {})
    assert len({worker["address"] for worker in fleet["training"]["workers"]}) == count


@pytest.mark.tensorflow
def test_differing_tensorflow_is_named_with_its_node(workers, tmp_path):
    fleet = report_of(run(command("ray", "--address", workers(2, **faulty(tmp_path, "other version"))), timeout=200), 2)
    node = fleet["training"]["workers"][1]["node"]
    assert [(cause["code"], cause["nodes"]) for cause in fleet["causes"]] == [("worker-version-skew", node)]
    assert [(one["value"], one["nodes"]) for one in fleet["training"]["skew"]] == [("2.20.9", node)]
    assert fleet["exit_code"] == 1


@pytest.mark.tensorflow
def test_worker_killed_in_a_step_is_named_with_its_node(workers, tmp_path):
    fleet = report_of(run(command("ray", "--address", workers(3, **faulty(tmp_path, "SIGKILL"))), timeout=200), 3)
    died(fleet, fleet["training"]["workers"][1]["node"])
    assert (fleet["exit_code"], fleet["unreached"]) == (1, {})


@pytest.mark.tensorflow
@pytest.mark.parametrize("place", [0, 1])  # the leader, and another worker
def test_worker_stopped_in_a_step_is_named_with_its_node(workers, tmp_path, place):
    address = workers(2, **faulty(tmp_path, "SIGSTOP", place))
    fleet = report_of(run(command("ray", "--address", address, "--node-limit", "180"), timeout=250), 2)
    node = fleet["training"]["workers"][place]["node"]
    (fault,) = fleet["training"]["faults"]
    assert (fault["worker"], fault["node"], fault["how"]) == (f"worker {place}", node, "stalled")
    assert [(cause["code"], cause["nodes"]) for cause in fleet["causes"]] == [("worker-unreachable", node)]
    assert (fleet["exit_code"], fleet["unreached"]) == (1, {})  # ended before the limit, else there is no report


@pytest.mark.tensorflow
def test_worker_that_never_started_is_named_with_its_node(workers, tmp_path):
    address = workers(2, **faulty(tmp_path, "never starts"))
    fleet = report_of(run(command("ray", "--address", address, "--node-limit", "70"), timeout=200), 2)
    node = fleet["training"]["workers"][1]["node"]
    (fault,) = fleet["training"]["faults"]
    assert (fault["worker"], fault["node"]) == ("worker 1", node)
    assert fault["reason"] == "not reachable (nothing listens on its address); SystemExit: this node's disk is full"
    assert [(cause["code"], cause["nodes"]) for cause in fleet["causes"]] == [("worker-unreachable", node)]


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (("--engine", "ray", "--address", "127.0.0.1:1"), "no Ray cluster: can't connect to 127.0.0.1:1", 2),
        (("--engine", "slurm"), "sinfo", 3 if shutil.which("sinfo") else 2),
    ],
)
def test_missing_engine_is_reported(arguments, words, code):
    pytest.importorskip("ray")
    done = run([sys.executable, "-m", "gpucheck", "fleet", "run", *arguments], timeout=150, env={"SLURM_CONF": "/nowhere"})
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
