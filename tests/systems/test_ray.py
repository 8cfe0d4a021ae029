"""`gpucheck fleet run` on a cluster of Ray: three raylets of this machine, which name themselves by host and id."""

import contextlib
import json
import os
import pathlib
import sys
import threading

import psutil
import pytest
from lab import fake_driver
from recipes import run
from systems.slurm import wait

import gpucheck

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore")]
CHECK = ("--", "--gres", "0")  # these nodes need no GPU


@pytest.fixture
def cluster(tmp_path):
    """A head, a node that is well, and a node with a driver that lost its GPU."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed: pip install ray")
    path = str(pathlib.Path(gpucheck.__file__).parents[1])
    os.environ["PYTHONPATH"] = f"{path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
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


def test_every_node_is_looked_at_and_a_fault_is_named(cluster):
    code, told = fleet(cluster, *CHECK)
    assert (code, told["counts"], told["unreached"]) == (1, {"pass": 2, "fail": 1}, {})
    assert [(cause["code"], cause["count"]) for cause in told["causes"]] == [("gpu-lost", 1)]


def test_a_node_that_dies_meanwhile_is_named_and_the_others_complete(cluster, tmp_path):
    hangs = fake_driver.write_scenario(tmp_path / "hangs", {"nvmlInit_v2": "hang", "cuInit": "hang"})
    driver = {"LD_LIBRARY_PATH": str(tmp_path / "driver"), "FAKE_DRIVER": str(hangs)}
    dying = cluster.add_node(num_cpus=1, env_vars=driver)

    def die():
        wait(lambda: is_looking(str(hangs)), 100, "the check on the node that dies")
        cluster.remove_node(dying, allow_graceful=False)

    killer = threading.Thread(target=die, daemon=True)
    killer.start()
    code, told = fleet(cluster, "--node-limit", "90", *CHECK, "--timeout", "60")
    killer.join()
    assert (code, told["counts"]) == (1, {"pass": 2, "fail": 1})
    ((why, part),) = told["unreached"].items()
    assert part["count"] == 1
    assert why.startswith("NodeDiedError: Task failed because the node it was running on is dead")


def is_looking(scenario):
    """Whether a gpucheck looks at the node that has this driver."""
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            if "gpucheck" in (process.info["cmdline"] or []) and process.environ().get("FAKE_DRIVER") == scenario:
                return True
    return False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--engine", "ray", "--address", "127.0.0.1:1"), "nobody listens at 127.0.0.1:1"), (("--engine", "slurm"), "sinfo")],
)
def test_no_such_engine(arguments, words):
    pytest.importorskip("ray")
    done = run([sys.executable, "-m", "gpucheck", "fleet", "run", *arguments], timeout=150, env={"SLURM_CONF": "/nowhere"})
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
