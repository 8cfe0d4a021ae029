"""The recipes in Slurm itself: what drains a node, what `sinfo -R` says, what a job's output holds."""

import json
import re
import sys

import pytest
from installation import Installation
from systems.slurm import Cluster, refusal, wait, why_not
from systems.training import command, died, faulty, proven, told

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
GPU_JOB = ("srun", "--gres=gpu:1")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    reason = why_not() or refusal(tmp_path_factory.mktemp("probe"))
    if reason:
        pytest.skip(reason)
    with Cluster(tmp_path_factory.mktemp("slurm"), nodes=3) as made:
        yield made


@pytest.fixture(autouse=True)
def clean(cluster):
    yield
    cluster.cancel()
    for node in cluster.nodes:
        cluster.repaired(node)


def start(cluster, node, *command):
    """Send a job with a GPU to a node, and don't wait for it."""
    sent = cluster.run("sbatch", "--parsable", "--gres=gpu:1", "-w", node, "--wrap", " ".join(command) or "true")
    assert sent.returncode == 0, sent.stderr
    return sent.stdout.strip()


def drained(cluster, node, words, seconds=30):
    wait(
        lambda: words in cluster.reason(node),
        seconds,
        f"{node} drained for {words!r}",
        lambda: cluster.shown(node) + cluster.told(),
    )


def test_a_sound_node_runs_the_job_and_its_output_is_the_jobs_alone(cluster):
    done = cluster.run(*GPU_JOB, "-w", "n1", "echo", "the output")
    assert (done.returncode, done.stdout) == (0, "the output\n"), done.stderr + cluster.told()
    assert cluster.reason("n1") == ""


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ({"gpu__1__lost": 1}, "gpucheck gpu-lost: GPU 1"),
        ({"gpus": 1}, "gpucheck gpu-"),  # one of two: the bus still has it, or Gres has more
        ({"gpu__0__ecc_uncorrected": 3}, "gpucheck ecc-errors: GPU 0"),
        ({"nvmlInit_v2": "hang", "cuInit": "hang"}, "gpucheck driver-unresponsive: The NVIDIA driver does not respond"),
    ],
)
def test_a_fault_keeps_the_job_away_and_sinfo_says_why(cluster, scenario, reason):
    cluster.only_the_prolog_looks_at("n2")
    cluster.breaks("n2", **scenario)
    job = start(cluster, "n2")
    drained(cluster, "n2", reason)
    assert "DRAIN" in cluster.state("n2")
    wait(
        lambda: "Reason=launch_failed_requeued_held" in cluster.job(job),
        30,
        "the job back in the queue",
        lambda: cluster.job(job),
    )


def test_an_environment_of_the_user_drains_nothing(cluster):
    done = cluster.run(*GPU_JOB, "-w", "n1", "true", CUDA_VISIBLE_DEVICES="99", PYTHONPATH="/nowhere", LD_PRELOAD="/no/such.so")
    assert done.returncode == 0, done.stderr
    assert cluster.reason("n1") == ""


def test_the_health_check_drains_an_idle_node_and_brings_it_back(cluster):
    cluster.breaks("n3", gpu__0__lost=1)
    drained(cluster, "n3", "gpucheck gpu-lost: GPU 0", 60)
    cluster.breaks("n3")
    wait(
        lambda: cluster.state("n3") == "IDLE", 90, "n3 back after two clean checks", lambda: cluster.shown("n3") + cluster.told()
    )


def test_a_node_that_somebody_else_drained_is_left_alone(cluster):
    cluster.run("scontrol", "update", "nodename=n3", "state=drain", "reason=maintenance")
    cluster.breaks("n3", gpu__0__lost=1)
    seen = cluster.folder / "journal"
    before = seen.read_text().count("n3 ") if seen.exists() else 0
    wait(lambda: seen.exists() and seen.read_text().count("n3 ") > before + 1, 60, "two health checks of n3", cluster.told)
    assert cluster.reason("n3") == "maintenance"


def test_the_job_after_which_a_gpu_is_ill_stands_in_the_reason(cluster):
    broken = f"printf 'gpus=2\\ngpu.0.ecc_uncorrected=5\\n' >{cluster.folder}/n1.txt"
    job = start(cluster, "n1", broken)
    drained(cluster, "n1", "gpucheck ecc-errors: GPU 0")
    wait(lambda: job in (cluster.folder / "journal").read_text(), 20, "the job in the journal", cluster.told)


def test_a_check_that_is_missing_starts_the_job_and_is_told(cluster):
    program = cluster.folder / "bin/gpucheck"
    text = program.read_text()
    program.unlink()
    try:
        assert cluster.run(*GPU_JOB, "-w", "n1", "echo", "started").stdout == "started\n"
    finally:
        cluster.program("gpucheck", text.partition("\n")[2].rstrip("\n"))
    assert "gpucheck: not found" in (cluster.folder / "journal").read_text()


def test_a_damaged_installation_drains_no_node(cluster):
    """A package is moved away until the health check has run twice on each node, and a job's Prolog has run, too."""
    installed = Installation(cluster.folder / "installed")
    text = (cluster.folder / "bin/gpucheck").read_text()
    journal = cluster.folder / "journal"
    line = text.partition("\n")[2].rstrip("\n")
    settings, _, _ = line.partition("exec ")
    settings = re.sub(r"PYTHONPATH='[^']*' ", "", settings)
    package, aside = installed.site / "msgspec", installed.site / "msgspec.away"
    package.rename(aside)
    before = len(journal.read_text())
    cluster.program("gpucheck", f'{settings}exec {installed.program} "$@"')
    try:
        wait(lambda: _damage_reports(journal, before, cluster) >= 2, 120, "two health checks on each node", cluster.told)
        assert cluster.run(*GPU_JOB, "-w", "n1", "echo", "started").stdout == "started\n"
        assert [cluster.reason(node) for node in cluster.nodes] == [""] * len(cluster.nodes)
    finally:
        cluster.program("gpucheck", line)


def _damage_reports(journal, before, cluster):
    """How often each node has reported the damage since then, at least."""
    lines = journal.read_text()[before:].splitlines()
    checked = [node for node in cluster.nodes if not (cluster.folder / f"{node}.unchecked").exists()]
    return min(sum(line.startswith(f"{node} ") and "is damaged" in line for line in lines) for node in checked)


def test_fleet_run_looks_at_every_node_and_names_those_that_it_can_not(cluster):
    cluster.run("scontrol", "update", "nodename=n3", "state=drain", "reason=maintenance")
    argv = [sys.executable, "-m", "gpucheck", "fleet", "run", "--engine", "slurm", "--format", "json", "--nodes", "n[1-4]"]
    driver = {"LD_LIBRARY_PATH": str(cluster.driver), "FAKE_DRIVER": f"{cluster.folder}/n1.txt"}  # srun hands them on
    done = cluster.run(*argv, timeout=150, **driver)
    told = json.loads(done.stdout)
    assert (done.returncode, told["counts"]) == (3, {"pass": 2}), done.stderr
    unreached = {part["nodes"]: why for why, part in told["unreached"].items()}
    assert unreached == {"n3": "drained: maintenance", "n4": "not a node of the engine"}


@pytest.mark.tensorflow
def test_workers_of_a_step_train_together_and_one_reports(cluster):
    argv = [sys.executable, "-m", "gpucheck", "--allow-cpu", "--strategy", "multi_worker_mirrored", "--timeout", "150"]
    done = cluster.run("srun", "-n", "2", "-w", "n1", *argv, timeout=200)  # of two nodes here, both would want one port
    assert done.stdout.count("gpucheck 0.") == 1, done.stdout + done.stderr  # and blames the driver, which is not there
    assert "multi_worker_mirrored 2 × CPU:0 passed" in done.stdout


@pytest.mark.tensorflow
@pytest.mark.parametrize("count", [2, 3])
def test_workers_on_nodes_train_together(cluster, count):
    done = cluster.run(*command("slurm", "--nodes", f"n[1-{count}]"), timeout=200)
    fleet = told(done, count)
    proven(fleet["training"], count)
    assert [worker["node"] for worker in fleet["training"]["workers"]] == cluster.nodes[:count]


@pytest.mark.tensorflow
def test_a_worker_that_is_killed_in_a_step_is_named_with_its_node(cluster, tmp_path):
    done = cluster.run(*command("slurm"), timeout=200, **faulty(tmp_path, "SIGKILL"))
    died(told(done, 3), "n2")
    assert done.returncode == 1


@pytest.mark.tensorflow
def test_a_worker_whose_node_is_busy_is_named_with_its_node(cluster):
    busy = cluster.run("sbatch", "--exclusive", "-w", "n2", "--wrap", "sleep 300")
    assert busy.returncode == 0, busy.stderr
    wait(lambda: cluster.state("n2") == "ALLOCATED", 30, "n2 busy", lambda: cluster.shown("n2"))
    fleet = told(cluster.run(*command("slurm", "--nodes", "n[1-2]", "--node-limit", "40"), timeout=200), 2)
    (fault,) = fleet["training"]["faults"]
    assert (fault["worker"], fault["node"]) == ("worker 1", "n2")
    assert "not reachable" in fault["reason"]
    assert "srun: error" in fault["reason"]
