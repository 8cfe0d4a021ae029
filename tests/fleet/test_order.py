"""Problems of a fleet other than faults, the order of problems, and the redacted form."""

import datetime
import json
import re

import pytest
from fleet_cases import NOW, REPORT, fleet_of_all, merged, place
from fleet_reports import FAULT

from gpucheck.commands.fleet.formats import csv as csv_format
from gpucheck.commands.fleet.formats import html, junit, terminal
from gpucheck.commands.fleet.formats import json as json_format
from gpucheck.commands.fleet.names import redacted


def dates(**days):
    """Reports of nodes, each this number of days old."""
    return {
        name: datetime.datetime.fromtimestamp(NOW - 86_400 * ago, datetime.timezone.utc).isoformat() for name, ago in days.items()
    }


@pytest.mark.parametrize(
    ("max_age", "strict", "days", "counts", "kinds", "exit_code"),
    [
        (None, False, {"n1": 0, "n2": 0}, {"pass": 2}, [], 0),
        (None, False, {"n1": 0, "n2": 116}, {"pass": 2}, ["old"], 0),
        (None, True, {"n1": 0, "n2": 116}, {"pass": 2}, ["old"], 3),
        (None, False, {"n1": 116, "n2": 116}, {"pass": 2}, [], 0),  # of one collection
        (86_400, False, {"n1": 0.9, "n2": 1.1}, {"pass": 1, "unknown": 1}, ["old"], 3),
        (86_400, False, {"n1": 0.9, "n2": 1.1, "broken": 7}, {"pass": 1, "unknown": 1, "fail": 1}, ["old", "old"], 1),
        (None, False, {"n1": 0, "n2": NOW / 86_400}, {"pass": 2}, ["wrong clock"], 0),  # 1970
        (None, True, {"n1": 0, "n2": NOW / 86_400}, {"pass": 2}, ["wrong clock"], 3),
        (86_400, False, {"n1": 0, "n2": -1}, {"pass": 1, "unknown": 1}, ["wrong clock"], 3),
    ],
)
def test_old_reports_of_health_expire_and_old_faults_do_not(tmp_path, max_age, strict, days, counts, kinds, exit_code):
    for name, started_at in dates(**days).items():
        bad = {"verdict": "fail", "exit_code": 1, "findings": [FAULT]} if name == "broken" else {}
        place(tmp_path, name, started_at=started_at, **bad)
    fleet = merged(tmp_path, max_age=max_age, strict=strict)
    assert (fleet.counts, [one.kind for one in fleet.unusual], fleet.exit_code) == (counts, kinds, exit_code)
    assert {node.name for node in fleet.nodes if node.remarks} == {one.node for one in fleet.unusual}
    shown = terminal.render(fleet, width=100, color=False, ascii=True)
    assert shown.endswith("With --strict, this is no verdict.\n") is (strict and exit_code == 3)


@pytest.mark.parametrize("date", ["", "yesterday", "9999-99-99T00:00:00Z", "2026-01-01T00:00:00+99:99"])
def test_report_without_a_valid_date_is_unknown_with_max_age(tmp_path, date):
    place(tmp_path, "n1", started_at=date)
    assert merged(tmp_path).exit_code == 0
    assert merged(tmp_path, max_age=86_400).exit_code == 3


@pytest.mark.parametrize(
    ("changes", "top", "remarks"),
    [
        ({"packages.tensorflow.version": "2.19.1"}, {}, ("TensorFlow 2.19.1",)),
        (
            {},
            {"training": [{**run, "samples_per_second": (run["samples_per_second"] or 0) / 2} for run in REPORT["training"]]},
            ("slow",),
        ),
    ],
)
def test_differing_node_fails_with_strict(tmp_path, changes, top, remarks):
    for number in range(7):
        place(tmp_path, f"n{number}")
    place(tmp_path, "n7", changes, **top)
    fleet = merged(tmp_path)
    assert (fleet.verdict, fleet.exit_code, fleet.nodes[7].remarks) == ("warn", 0, remarks)
    assert terminal.render(fleet, width=100, color=False, ascii=True).endswith("8 nodes: 1 unusual, 7 healthy.\n")
    strictly = merged(tmp_path, strict=True)
    assert strictly.exit_code == 1
    shown = terminal.render(strictly, width=100, color=False, ascii=True)
    assert shown.endswith("8 nodes: 1 unusual, 7 healthy. With --strict, this is a fault.\n")
    assert junit.render(strictly).count("<failure") == 1


def test_many_wrong_clocks_are_reported_in_one_line(tmp_path):
    for number in range(44):
        place(tmp_path, f"n{number}", started_at="1970-01-01T00:00:00Z")
    place(tmp_path, "m1")
    shown = terminal.render(merged(tmp_path), width=200, color=False, ascii=True).splitlines()
    (line,) = [line for line in shown if "1970" in line]
    assert "wrong clock: 44 nodes: n[0-43]: " in line
    assert len(shown) < 8


def test_problems_are_listed_before_groups(tmp_path):
    (tmp_path / "n8.json").write_text(json.dumps(REPORT)[:1000])
    fleet = fleet_of_all(tmp_path)
    shown = terminal.render(fleet, width=200, color=False, ascii=True)
    places = [shown.index(words) for words in ("FAIL", "unknown", "missing", "group")]
    assert places == sorted(places)
    assert shown.endswith("9 nodes: 1 with a fault, 1 without a verdict, 1 without a report, 6 healthy.\n")


def test_cause_has_its_action_and_the_first_repair_command(tmp_path):
    fix = [{"text": "x", "command": "nvidia-smi", "kind": "look"}, {"text": "x", "command": "sudo reboot", "kind": "repair"}]
    place(tmp_path, "n1", verdict="fail", exit_code=1, findings=[{**FAULT, "fix": fix, "action": "reboot"}])
    fleet = merged(tmp_path)
    assert "on n1 (host, reboot)." in terminal.render(fleet, width=80, color=False, ascii=True)
    assert fleet.causes[0].command == "sudo reboot"


def test_command_after_advice_is_not_taken_for_the_repair(tmp_path):
    fix = [{"text": "Use another machine"}, {"text": "x", "command": "gpucheck node --gres 0", "kind": "repair"}]
    place(tmp_path, "n1", verdict="fail", exit_code=1, findings=[{**FAULT, "fix": fix}])
    assert merged(tmp_path).causes[0].command is None


def test_node_without_gpu_facts_is_not_grouped_as_having_no_gpu(tmp_path):
    report = place(tmp_path, "n1")
    del report["facts"]["gpus"]
    (tmp_path / "n1.json").write_text(json.dumps(report))
    assert merged(tmp_path).groups[0].gpus == "GPUs not read"


def test_redacted_fleet_contains_no_names_or_addresses(tmp_path):
    for name in ("rack7-gpu1", "rack7-gpu2", "login.example.com"):
        bad = {**FAULT, "summary": f"{name} of alice@rack7-gpu2 at 10.1.2.3 fails, see /home/alice/x"}
        place(tmp_path, name, verdict="fail", exit_code=1, findings=[bad])
    (tmp_path / "rack7-gpu4.json").write_text("{")
    named = merged(tmp_path, asked=["rack7-gpu1", "rack7-gpu9"])
    fleet = redacted(named)
    assert (html.REDACTED in html.render(fleet), html.REDACTED in html.render(named)) == (True, False)
    for module in (json_format, html, junit, csv_format):
        text = module.render(fleet)
        assert not re.search(r"rack7|login|alice|10\.1\.2\.3", text), module
    assert (fleet.causes[0].count, fleet.missing.count, fleet.exit_code) == (3, 1, 1)
    assert fleet.causes[0].nodes.startswith("host-[")


def test_numbers_in_names_of_nodes_are_sorted_by_value(tmp_path):
    names = ["gpu10-2", "gpu9-10", "gpu9-3"]
    for name in names:
        place(tmp_path, name, verdict="fail", exit_code=1, findings=[FAULT])
    fleet = merged(tmp_path)
    assert [node.name for node in fleet.nodes] == ["gpu9-3", "gpu9-10", "gpu10-2"]
