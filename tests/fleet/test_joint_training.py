"""Merged reports of nodes that train together: failed, differing and slow nodes."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from gpucheck.commands.fleet.formats import csv as csv_format
from gpucheck.commands.fleet.formats import html, junit, terminal
from gpucheck.commands.fleet.joint_training import configurations, with_training
from gpucheck.commands.fleet.merge import Merge
from gpucheck.core.training.worker import LINK_ROUNDS, pairs

NODES = ("n1", "n2", "n3")
VERSIONS = {"tensorflow": "2.21.0", "python": "3.12.3"}
LOST = "UnavailableError: Collective ops is aborted by: Connection reset by peer"


def run(status="passed", faults=(), links=(), versions=(VERSIONS,) * 3, **fields):
    """The joint training in a node's report; faults as (worker, how, reason), links as (a, b, seconds)."""
    return {
        "strategy": "multi_worker_mirrored",
        "status": status,
        "worker_names": [f"worker {index}" for index in range(3)],
        "worker_versions": list(versions),
        "worker_faults": [{"worker": f"worker {index}", "how": how, "reason": reason, "stage": "step 5"} for index, how, reason in faults],
        "worker_links": [{"workers": [f"worker {a}", f"worker {b}"], "sum_bytes": 1 << 22, "seconds": s} for a, b, s in links],
        **fields,
    }  # fmt: skip


def trained(runs, unreached=None):
    """The fleet of three nodes with these runs; None: a node without a report."""
    places, _ = configurations({node: f"10.0.0.{node[1]}" for node in NODES}, 8888)
    texts = {
        node: json.dumps({"training": [one] if one else []}).encode()
        for node, one in zip(NODES, runs, strict=True)
        if one is not None
    }
    return with_training(Merge().fleet(1.0, None, unreached), places, texts, unreached or {})  # fmt: skip


@pytest.mark.parametrize("count", [2, 3, 8, 9, 30])
def test_each_pair_meets_once_and_each_worker_has_one_pair_per_round(count):
    rounds = list(pairs(count))
    met = [pair for one in rounds for pair in one]
    assert len(met) == len(set(met))
    assert all(low < high < count for low, high in met)
    assert all(len({worker for pair in one for worker in pair}) == 2 * len(one) for one in rounds)
    if count <= LINK_ROUNDS:
        assert len(met) == count * (count - 1) // 2
    else:
        assert len(rounds) == LINK_ROUNDS


def test_each_node_gets_the_cluster_and_its_own_index():
    places, configured = configurations({"a": "10.0.0.1", "b": "10.0.0.1", "c": "fe80::1"}, 8888)
    assert places == {"a": "10.0.0.1:8888", "b": "10.0.0.1:8889", "c": "[fe80::1]:8888"}
    assert json.loads(configured["b"]) == {"cluster": {"worker": [*places.values()]}, "task": {"type": "worker", "index": 1}}


def test_fleet_passes_if_all_nodes_trained():
    fleet = trained([run(samples_per_second=100.0, shards_verified=True)] * 3)
    assert (fleet.training.status, fleet.training.faults, fleet.training.samples_per_second) == ("passed", (), 100.0)
    assert [worker.address for worker in fleet.training.workers] == ["10.0.0.1:8888", "10.0.0.2:8888", "10.0.0.3:8888"]


def test_killed_worker_is_named_rather_than_the_workers_that_lost_it():
    fleet = trained(
        [
            run("failed", [(1, "lost", LOST)]),
            run("failed", [(1, "ended", "killed by SIGKILL")]),
            run("failed", [(0, "lost", LOST)]),
        ]
    )
    assert [(fault.worker, fault.node, fault.reason, fault.stage) for fault in fleet.training.faults] == [
        ("worker 1", "n2", "killed by SIGKILL", "step 5")
    ]
    assert (fleet.verdict, fleet.exit_code) == ("fail", 1)
    shown = terminal.render(fleet, width=120, color=False, ascii=True)
    assert "worker 1 on n2: killed by SIGKILL in stage step 5" in shown


def test_worker_that_never_started_is_named_with_its_node_and_reason():
    missing = run("failed", [(2, "missing", "not reachable (nothing listens on its address)")])
    fleet = trained([missing, missing, None], {"n3": "gpucheck is not installed there"})
    assert [(fault.node, fault.reason) for fault in fleet.training.faults] == [
        ("n3", "not reachable (nothing listens on its address); gpucheck is not installed there")
    ]
    assert [(cause.code, cause.nodes) for cause in fleet.causes] == [("worker-unreachable", "n3")]


def test_report_of_another_program_does_not_end_the_merge():
    foreign = [{**run(), "worker_links": [{"workers": "x"}]}, run(links=[(0, 7, 0.1)]), run(links=[(0, 1, 0.1)])]
    result = trained(foreign).training
    assert [worker.status for worker in result.workers] == ["skipped", "passed", "passed"]
    assert result.workers[0].reason == "the training in its report is not in gpucheck's format"
    assert [link.nodes for link in result.links] == [(NODES[0], NODES[1])]


def test_failed_node_is_reported_in_three_lines():
    """gRPC's details are omitted if the engine reports the node's problem."""
    grpc = f"{LOST}\nAdditional GRPC error information from remote target /job:worker/replica:0/task:1:\n" + "at 0xcafe\n" * 200
    fleet = trained(
        [run("failed", [(1, "lost", grpc)]), None, run("failed", [(1, "lost", grpc)])], {"n2": "srun: error: Node failure on n2"}
    )
    assert [(fault.node, fault.reason) for fault in fleet.training.faults] == [("n2", "srun: error: Node failure on n2")]
    shown = terminal.render(fleet, width=120, color=False, ascii=True)
    assert "GRPC" not in shown
    lines = [line for line in shown.splitlines() if line.startswith(("  FAIL", "  training", "  worker"))]
    assert [line.split()[0] for line in lines] == ["FAIL", "training", "worker"]
    assert "1 of 3 workers failed" in lines[1]
    own = trained([run("failed", [(0, "raised", grpc)]), run(), run()])
    assert own.training.faults[0].reason == LOST


def test_differing_tensorflow_is_named_although_no_report_has_all_versions():
    other = {**VERSIONS, "tensorflow": "2.20.0", "python": "3.11.2"}
    fleet = trained(
        [
            run("failed", [(0, "raised", "InvalidArgumentError: shapes")], versions=(VERSIONS, {}, {})),
            run("failed", [], versions=({}, VERSIONS, {})),
            run("failed", [], versions=({}, {}, other)),
        ]
    )
    assert [(skew.what, skew.value, skew.nodes, skew.tolerated) for skew in fleet.training.skew] == [
        ("tensorflow", "2.20.0", "n3", False),
        ("python", "3.11.2", "n3", True),
    ]
    assert [(cause.code, cause.nodes) for cause in fleet.causes] == [("worker-version-skew", "n3")]
    assert fleet.exit_code == 1


@pytest.mark.parametrize(
    ("links", "slow"),
    [
        ([(0, 1, 0.02), (0, 2, 0.09), (1, 2, 0.1)], ("n3",)),
        ([(0, 1, 0.02), (0, 2, 0.03), (1, 2, 0.03)], ()),
        ([(0, 1, 0.09)], ()),  # with only two nodes, the slow one is unknown
    ],
)
def test_node_is_slow_only_if_its_best_link_is_slow(links, slow):
    fleet = trained([run(links=links)] * 3)
    assert fleet.training.slow == slow


@pytest.mark.parametrize("untried", [{}, run("skipped", reason="Keras runs on jax here")])
def test_skipped_training_is_unknown(untried):
    fleet = trained([run("skipped", reason="Keras runs on jax here"), run("skipped", reason="Keras runs on jax here"), untried])
    assert (fleet.training.status, fleet.exit_code, len(fleet.training.faults)) == ("unknown", 3, 3)
    assert re.search("worker 2 on n3: (Keras runs on jax|its report has no training with other nodes)", fleet.training.reason)


def test_single_usable_node_gives_no_verdict():
    fleet = with_training(Merge().fleet(1.0, None, {"n1": "drained"}), {}, {}, {"n1": "drained"})
    assert (fleet.training.status, fleet.exit_code) == ("unknown", 3)
    assert "two usable nodes are required" in terminal.render(fleet, width=100, color=False, ascii=True)


SLOW = [(0, 1, 0.02), (0, 2, 0.09), (1, 2, 0.1)]
KILLED = [
    run("failed", [(1, "lost", LOST)], reason=f"worker 1: {LOST}"),
    run("failed", [(1, "ended", "killed by <SIGKILL>")], reason="worker 1: killed by <SIGKILL>"),
]


def cases(fleet):
    """The verdict and the words of each JUnit case of the training."""
    found = {}
    for case in ElementTree.fromstring(junit.render(fleet)).iter("testcase"):
        (child,) = case
        found[case.get("name")] = (child.tag, child.text)
    return found


def test_csv_has_a_row_with_figures_for_each_worker():
    rows = list(csv.DictReader(io.StringIO(csv_format.render(trained([run(links=SLOW)] * 3)))))
    assert [(row["node"], row["worker"], row["training"], row["link_seconds"], row["link_times_usual"]) for row in rows] == [
        ("n1", "worker 0", "passed", "0.02", ""),
        ("n2", "worker 1", "passed", "0.02", ""),
        ("n3", "worker 2", "passed", "0.09", "4.50"),
    ]
    rows = list(csv.DictReader(io.StringIO(csv_format.render(trained([*KILLED, None], {"n3": "drained"})))))
    assert [(row["training"], row["fault"]) for row in rows] == [
        ("failed", ""),
        ("failed", "killed by <SIGKILL>"),
        ("no report", "drained"),
    ]


def test_junit_has_a_case_for_each_worker_and_a_failure_for_the_failed_one():
    results = cases(trained([run(links=SLOW)] * 3))
    assert results["training: worker 2 on n3"] == (
        "system-out",
        "4.19 MB all-reduced with another in 90 ms at best; its links are slow: 4.5 times the median",
    )
    results = cases(trained([*KILLED, None], {"n3": "drained"}))
    assert results["training: worker 0 on n1"] == ("error", f"worker 1: {LOST}")
    assert results["training: worker 1 on n2"] == ("failure", "killed by <SIGKILL> in stage step 5")
    assert results["training: worker 2 on n3"] == ("error", "drained")


def test_page_shows_the_training_and_every_link():
    page = html.render(trained([run(links=SLOW)] * 3))
    assert "<b>slow</b> n3: its fastest link takes 4.5 times the median of the other nodes" in page
    assert re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td>", page) == [
        ("n2 – n3", "100 ms"),
        ("n1 – n3", "90 ms"),
        ("n1 – n2", "20 ms"),
    ]
    page = html.render(trained([*KILLED, None], {"n3": "@DATA@"}))
    assert "<li class=error><b>worker</b> worker 1 on n2: killed by &lt;SIGKILL&gt; in stage step 5</li>" in page
    assert page.count('"schema_version"') == 1
