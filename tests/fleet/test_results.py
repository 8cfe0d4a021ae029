"""Checksums of nodes with the same GPU and software: the outlier is named."""

import json

import pytest
from fleet_cases import REPORT, merged, place

from gpucheck.commands.fleet.formats import terminal

MAJORITY = {"float32 step 1 loss": "aa", "float32 step 1 gradients": "bb"}
OUTLIER = {"float32 step 1 loss": "aa", "float32 step 1 gradients": "cc"}


def nodes(folder, checksums, changes=None, device="GPU:0"):
    for number, found in enumerate(checksums):
        results = {"devices": [{"device": device, "model": "NVIDIA H200", "checksums": found}]}
        training = {**REPORT["facts"]["training"], "checksums": results}
        place(folder, f"n{number:02}", {"training": training, **(changes or {}).get(number, {})})
    return merged(folder)


def test_outlier_among_sixteen_nodes_is_named(tmp_path):
    fleet = nodes(tmp_path, [OUTLIER if number == 11 else MAJORITY for number in range(16)])
    (cause,) = fleet.causes
    assert (cause.code, cause.severity, cause.nodes, cause.action) == ("device-results-differ", "warning", "n11", None)
    assert (fleet.verdict, fleet.exit_code, fleet.counts) == ("warn", 0, {"pass": 15, "warn": 1})
    assert cause.example == (
        "The results of its NVIDIA H200 differ from those of n[00-10,12-15] with the same software, first in the gradients of step 1"
        " in float32."
    )
    assert "device-results-differ on n11 (hardware)" in terminal.render(fleet, width=100, color=False, ascii=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"driver.version": "570.1"},
        {"packages.tensorflow.version": "2.20.0"},
        {"environment.variables": {"NVIDIA_TF32_OVERRIDE": "0"}},
        {"libraries.libraries": [{**library, "version": "9.14"} for library in REPORT["facts"]["libraries"]["libraries"]]},
        {"libraries.libraries": [{**library, "version": None} for library in REPORT["facts"]["libraries"]["libraries"]]},
    ],
    ids=json.dumps,
)
def test_nodes_with_different_software_are_not_compared(tmp_path, changes):
    assert nodes(tmp_path, [MAJORITY, MAJORITY, OUTLIER], {2: changes}).causes == ()


def test_results_of_cpus_are_not_compared(tmp_path):
    assert nodes(tmp_path, [MAJORITY, MAJORITY, OUTLIER], device="CPU:0").causes == ()


def test_both_nodes_are_reported_if_two_differ_without_a_majority(tmp_path):
    fleet = nodes(tmp_path, [MAJORITY, OUTLIER])
    (cause,) = fleet.causes
    assert (cause.severity, cause.nodes, fleet.verdict) == ("warning", "n[00-01]", "warn")
    assert cause.example.endswith("no majority shows which one is wrong.")


def test_node_with_its_own_finding_gets_no_second_cause(tmp_path):
    known = {"code": "device-results-differ", "severity": "error", "scope": "hardware", "summary": "GPU:1 differs."}
    nodes(tmp_path, [MAJORITY, MAJORITY, OUTLIER])
    path = tmp_path / "n02.json"
    report = json.loads(path.read_text())
    path.write_text(json.dumps({**report, "verdict": "fail", "exit_code": 1, "findings": [known]}))
    (cause,) = merged(tmp_path).causes
    assert (cause.nodes, cause.example) == ("n02", "GPU:1 differs.")
