"""The recipes in Slurm itself: drained nodes, reasons in `sinfo -R`, and the output of jobs."""

import json
import re
import sys

import pytest
from installation import Installation
from systems.slurm import Cluster, refusal, wait, why_not
from systems.training import command, died, faulty, proven, report_of

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
    cluster.switch(budget=len(cluster.nodes))
    cluster.begun = {node: len(journal(cluster, node)) for node in cluster.nodes}
    yield
    cluster.cancel()
    for node in cluster.nodes:
        cluster.repaired(node)


def start(cluster, node, *command):
    """Submit a job with a GPU to a node without waiting for it."""
    sent = cluster.run("sbatch", "--parsable", "--gres=gpu:1", "-w", node, "--wrap", " ".join(command) or "true")
    assert sent.returncode == 0, sent.stderr
    return sent.stdout.strip()


def drained(cluster, node, words, seconds=30):
    wait(
        lambda: words in cluster.reason(node),
        seconds,
        f"{node} drained for {words!r}",
        lambda: cluster.shown(node) + cluster.logs(),
    )


def test_healthy_node_runs_the_job_and_prints_only_its_output(cluster):
    done = cluster.run(*GPU_JOB, "-w", "n1", "echo", "the output")
    assert (done.returncode, done.stdout) == (0, "the output\n"), done.stderr + cluster.logs()
    assert cluster.reason("n1") == ""


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ({"gpu__1__lost": 1}, "gpucheck gpu-lost: GPU 1"),
        ({"gpus": 1}, "gpucheck gpu-"),  # one of two: the bus or Gres still has both
        ({"gpu__0__ecc_uncorrected": 3}, "gpucheck ecc-errors: GPU 0"),
        ({"nvmlInit_v2": "hang", "cuInit": "hang"}, "gpucheck driver-unresponsive: The NVIDIA driver does not respond"),
    ],
)
def test_faulty_node_is_drained_with_a_reason_and_the_job_does_not_start(cluster, scenario, reason):
    cluster.check_only_in_the_prolog("n2")
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


def test_environment_of_the_user_does_not_drain_the_node(cluster):
    done = cluster.run(*GPU_JOB, "-w", "n1", "true", CUDA_VISIBLE_DEVICES="99", PYTHONPATH="/nowhere", LD_PRELOAD="/no/such.so")
    assert done.returncode == 0, done.stderr
    assert cluster.reason("n1") == ""


def test_recovered_node_is_resumed_only_after_training(cluster):
    training = cluster.folder / "training"
    training.write_text("1")
    cluster.breaks("n3", gpu__0__lost=1)
    drained(cluster, "n3", "gpucheck gpu-lost: GPU 0", 60)
    cluster.breaks("n3")
    logged(cluster, "n3", '"hook": "recover"', '"decision": "kept"')
    assert "DRAIN" in cluster.state("n3")
    training.write_text("0")
    wait(lambda: cluster.state("n3") == "IDLE", 90, "n3 back", lambda: cluster.shown("n3") + cluster.logs())


@pytest.mark.parametrize(
    "reason", ["RMA ticket 4711 (bob)", 'bob\'s "RMA"\nReason=gpucheck gpu-lost: 4711', "gpucheck gpu-lost: RMA"]
)
def test_node_drained_by_another_user_keeps_its_state_and_reason(cluster, reason):
    """While a job runs: faults before its end, an Epilog, health checks and a recovered GPU change neither state nor reason."""
    runs = cluster.folder / "runs"
    job = start(cluster, "n3", f"echo >{runs}; sleep 5; rm {runs}")
    wait(runs.exists, 30, "the job", lambda: cluster.job(job))
    cluster.run("scontrol", "update", "nodename=n3", "state=drain", f"reason={reason}")
    shown = cluster.reason("n3")
    assert shown
    cluster.breaks("n3", gpu__0__lost=1)
    logged(cluster, "n3", '"hook": "epilog"', '"decision": "kept"')
    logged(cluster, "n3", '"hook": "health_check"', '"decision": "kept"')
    cluster.begun["n3"] = len(journal(cluster, "n3"))
    cluster.breaks("n3")
    logged(cluster, "n3", '"hook": "health_check"', '"verdict": "healthy", "decision": "none"')
    assert (cluster.reason("n3"), "DRAIN" in cluster.state("n3")) == (shown, True)


def test_node_drained_again_by_another_user_is_not_resumed(cluster):
    cluster.breaks("n3", gpu__0__lost=1)
    drained(cluster, "n3", "gpucheck gpu-lost: GPU 0", 60)
    before = cluster.reason("n3")
    cluster.run("scontrol", "update", "nodename=n3", "state=drain", f"reason={before} RMA 4711")
    cluster.begun["n3"] = len(journal(cluster, "n3"))
    cluster.breaks("n3")
    logged(cluster, "n3", '"hook": "health_check"', '"verdict": "healthy", "decision": "none"')
    assert (cluster.reason("n3"), "DRAIN" in cluster.state("n3")) == (f"{before} RMA 4711", True)


def test_reason_names_the_job_before_the_fault(cluster):
    cluster.check_only_in_the_prolog("n1")
    broken = f"printf 'gpus=2\\ngpu.0.ecc_uncorrected=5\\n' >{cluster.folder}/n1.txt"
    job = start(cluster, "n1", broken)
    drained(cluster, "n1", f"(after job {job} of user root)")
    assert cluster.reason("n1").startswith("gpucheck ecc-errors: GPU 0")


def test_reason_does_not_name_a_job_that_never_started(cluster):
    cluster.check_only_in_the_prolog("n2")
    cluster.breaks("n2", gpu__1__lost=1)
    start(cluster, "n2")
    drained(cluster, "n2", "gpucheck gpu-lost: GPU 1")
    logged(cluster, "n2", '"hook": "epilog"', '"decision": "kept"')
    assert "after job" not in cluster.reason("n2")


def test_monitor_mode_counts_without_draining(cluster):
    cluster.switch(mode="monitor")
    checked(cluster, "n1", 2)  # the first one may have started before the switch
    try:
        cluster.breaks("n1", gpu__1__lost=1)
        logged(cluster, "n1", '"hook": "health_check"', '"decision": "monitor"')
        assert cluster.run(*GPU_JOB, "-w", "n1", "echo", "started").stdout == "started\n"
        assert cluster.reason("n1") == ""
        assert 'gpucheck_drain{decision="monitor"} 1' in (cluster.folder / "n1.state/slurm.prom").read_text()
    finally:
        cluster.switch(mode="enforce")


def test_number_of_drained_nodes_is_limited_by_the_budget(cluster):
    """Each of three nodes loses a GPU at the same time; a third of three is one."""
    cluster.switch(budget="34%")
    for node in cluster.nodes:
        cluster.breaks(node, gpu__1__lost=1)
    for node in cluster.nodes:
        logged(cluster, node, '"hook": "health_check"', '"verdict": "fault"')
    wait(lambda: sum("DRAIN" in cluster.state(node) for node in cluster.nodes) == 1, 60, "one drained node", cluster.logs)
    held = next(node for node in cluster.nodes if "DRAIN" not in cluster.state(node))
    logged(cluster, held, '"decision": "budget"')
    assert cluster.run(*GPU_JOB, "-w", held, "echo", "started").stdout == "started\n"


def test_persistent_fault_is_logged_once(cluster):
    cluster.breaks("n1", gpu__1__lost=1)
    logged(cluster, "n1", '"decision": "drained"')
    checked(cluster, "n1", 3)
    lines = [json.loads(text.partition(" -- ")[2]) for text in journal(cluster, "n1") if '"health_check"' in text]
    since = max(place for place, line in enumerate(lines) if line["decision"] == "drained")
    assert [line["decision"] for line in lines[since:]] == ["drained", "kept"]


def checked(cluster, node, times):
    """Wait for a number of health checks of a node."""
    metric = cluster.folder / f"{node}.state/slurm.prom"
    for _ in range(times):
        before = metric.stat().st_mtime_ns
        wait(lambda before=before: metric.stat().st_mtime_ns > before, 60, "a health check", cluster.logs)


def journal(cluster, node):
    file = cluster.folder / "journal"
    return [line for line in file.read_text().splitlines() if line.startswith(f"{node} ")] if file.exists() else []


def logged(cluster, node, *words, seconds=60):
    """Wait for a new journal line of the node with these words, since the start in ``cluster.begun``."""
    wait(
        lambda: any(all(word in line for word in words) for line in journal(cluster, node)[cluster.begun[node] :]),
        seconds,
        f"{words} of {node}",
        lambda: cluster.shown(node) + cluster.logs(),
    )


@pytest.mark.parametrize("name", ["bin/gpucheck", "slurm.sh"])
@pytest.mark.parametrize("text", [None, "if\n"])
def test_missing_or_broken_script_is_logged_and_the_job_starts(cluster, name, text):
    program = cluster.folder / name
    whole = program.read_text()
    program.unlink()
    if text is not None:
        program.write_text(f"#!/bin/sh\n{text}")
        program.chmod(0o755)
    try:
        assert cluster.run(*GPU_JOB, "-w", "n1", "echo", "started").stdout == "started\n"
        logged(cluster, "n1", '"verdict": "unknown"' if name == "bin/gpucheck" else "slurm.sh is missing or broken")
        assert cluster.reason("n1") == ""
    finally:
        program.write_text(whole)
        program.chmod(0o755)


def test_damaged_installation_drains_no_node(cluster):
    """A package is moved away until the health check has run twice on each node, and a job's Prolog has run, too."""
    installed = Installation(cluster.folder / "installed")
    text = (cluster.folder / "bin/gpucheck").read_text()
    line = text.partition("\n")[2].rstrip("\n")
    settings, _, _ = line.partition("exec ")
    settings = re.sub(r"PYTHONPATH='[^']*' ", "", settings)
    package, aside = installed.site / "msgspec", installed.site / "msgspec.away"
    package.rename(aside)
    cluster.program("gpucheck", f'{settings}exec {installed.program} "$@"')
    try:
        for node in cluster.nodes:
            logged(cluster, node, '"hook": "health_check"', '"verdict": "unknown"', "is damaged", seconds=120)
        assert cluster.run(*GPU_JOB, "-w", "n1", "echo", "started").stdout == "started\n"
        assert [cluster.reason(node) for node in cluster.nodes] == [""] * len(cluster.nodes)
    finally:
        cluster.program("gpucheck", line)


def test_fleet_run_checks_every_node_and_names_unreachable_ones(cluster):
    cluster.run("scontrol", "update", "nodename=n3", "state=drain", "reason=maintenance")
    argv = [sys.executable, "-m", "gpucheck", "fleet", "run", "--engine", "slurm", "--format", "json", "--nodes", "n[1-4]"]
    driver = {"LD_LIBRARY_PATH": str(cluster.driver), "FAKE_DRIVER": f"{cluster.folder}/n1.txt"}  # srun passes them on
    done = cluster.run(*argv, timeout=150, **driver)
    report = json.loads(done.stdout)
    assert (done.returncode, report["counts"]) == (3, {"pass": 2}), done.stderr
    unreached = {part["nodes"]: why for why, part in report["unreached"].items()}
    assert unreached == {"n3": "drained: maintenance", "n4": "not a node of the engine"}


@pytest.mark.tensorflow
def test_workers_of_a_step_train_together_and_one_reports(cluster):
    argv = [sys.executable, "-m", "gpucheck", "--allow-cpu", "--strategy", "multi_worker_mirrored", "--timeout", "150"]
    done = cluster.run("srun", "-n", "2", "-w", "n1", *argv, timeout=200)  # on two nodes, both would use one port
    assert done.stdout.count("gpucheck 0.") == 1, done.stdout + done.stderr  # with a finding, because there is no driver
    assert "multi_worker_mirrored 2 × CPU:0 passed" in done.stdout


@pytest.mark.tensorflow
@pytest.mark.parametrize("count", [2, 3])
def test_workers_on_nodes_train_together(cluster, count):
    done = cluster.run(*command("slurm", "--nodes", f"n[1-{count}]"), timeout=200)
    fleet = report_of(done, count)
    proven(fleet["training"], count)
    assert [worker["node"] for worker in fleet["training"]["workers"]] == cluster.nodes[:count]


@pytest.mark.tensorflow
def test_worker_killed_in_a_step_is_named_with_its_node(cluster, tmp_path):
    done = cluster.run(*command("slurm"), timeout=200, **faulty(tmp_path, "SIGKILL"))
    died(report_of(done, 3), "n2")
    assert done.returncode == 1


@pytest.mark.tensorflow
def test_worker_on_a_busy_node_is_named_with_its_node(cluster):
    busy = cluster.run("sbatch", "--exclusive", "-w", "n2", "--wrap", "sleep 300")
    assert busy.returncode == 0, busy.stderr
    wait(lambda: cluster.state("n2") == "ALLOCATED", 30, "n2 busy", lambda: cluster.shown("n2"))
    fleet = report_of(cluster.run(*command("slurm", "--nodes", "n[1-2]", "--node-limit", "70"), timeout=200), 2)
    (fault,) = fleet["training"]["faults"]
    assert (fault["worker"], fault["node"]) == ("worker 1", "n2")
    assert "not reachable" in fault["reason"]
    assert "srun: error" in fault["reason"]
