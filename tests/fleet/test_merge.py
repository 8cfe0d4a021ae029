"""Merged reports of many nodes: exactly the problems are listed, with their nodes."""

import csv
import io
import json
import pickle
import re
import time
import xml.etree.ElementTree as ElementTree

import msgspec
import pytest
from command import gpucheck
from fleet_cases import NOW, REPORT, fleet_of_all, merged, place
from fleet_reports import FAULT, write

from gpucheck.commands.fleet.decoded import LONGEST
from gpucheck.commands.fleet.formats import csv as csv_format
from gpucheck.commands.fleet.formats import html, junit, prometheus, terminal
from gpucheck.commands.fleet.formats import json as json_format
from gpucheck.commands.fleet.options import FORMATS
from gpucheck.commands.fleet.read import LATE, collect, files, read, unread
from gpucheck.core.system.read import REPORT_BYTES_MAX


def test_merge_reports_exactly_the_injected_problems(tmp_path):
    wrong = write(REPORT, tmp_path, 130, faults=True)
    fleet = merged(tmp_path)
    (cause,), (group,) = fleet.causes, fleet.groups
    (outlier,) = group.outliers
    assert (cause.code, cause.count) == ("driver-library-mismatch", 12)
    assert set(names(cause.nodes)) == set(wrong["broken"])
    assert (outlier.what, outlier.value, set(names(outlier.nodes))) == ("TensorFlow", "2.19.1", set(wrong["outlier"]))
    assert {slow.node for slow in fleet.slow} == set(wrong["slow"])
    assert sorted(one.kind for one in fleet.unusual) == ["duplicate", "half-written", "half-written"]
    assert {re.sub(r".*/|-again|\.json", "", one.file) for one in fleet.unusual} == {*wrong["corrupt"], *wrong["duplicate"]}
    assert (fleet.counts, fleet.files, fleet.exit_code) == ({"pass": 116, "fail": 12, "unknown": 2}, 131, 1)


def names(hostlist):
    from gpucheck.core.cluster.slurm import expand

    return expand(hostlist)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", "half-written"),
        (json.dumps(REPORT)[:1000], "half-written"),
        ("no report at all", "foreign"),
        ("[1, 2]", "foreign"),
        ('{"name": "somebody else"}', "foreign"),
        (json.dumps({**REPORT, "tool": {"name": "other", "version": "1"}}), "foreign"),
        (json.dumps({**REPORT, "schema_version": "9.0"}), "another schema"),
        ('{"schema_version": "9.0", "verdict": 7}', "another schema"),
        ("x" * (REPORT_BYTES_MAX + 1), "too large"),
        ("[" * 100_000, "foreign"),
        ('{"findings":' + "[" * 1000, "foreign"),
        (b"\xff\xfe\x00", "foreign"),
        (None, "unreadable"),
    ],
)
def test_invalid_report_file_is_named_and_the_others_are_counted(tmp_path, content, kind):
    place(tmp_path, "n1")
    if content is None:
        (tmp_path / "n2.json").symlink_to("/nowhere")
    else:
        (tmp_path / "n2.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    fleet = merged(tmp_path)
    (one,) = fleet.unusual
    counts = {"pass": 1} if kind == "foreign" else {"pass": 1, "unknown": 1}
    assert (one.kind, fleet.counts, fleet.exit_code) == (kind, counts, 3)
    assert [node.name for node in fleet.nodes if node.verdict == "unknown"] == ["n2"] * (kind != "foreign")
    assert "\n" not in one.why


def test_unusual_nodes_are_reported(tmp_path):
    place(tmp_path, "n1", started_at="2099-01-01T00:00:00Z")
    place(tmp_path, "n2", {"gpus.gpus": [{"name": "NVIDIA H200", "uuid": "GPU-1"}]})
    other = place(tmp_path, "n2x", {"system.node": "n2", "gpus.gpus": [{"name": "NVIDIA H200", "uuid": "GPU-2"}]})
    assert other["facts"]["system"]["node"] == "n2"
    fleet = merged(tmp_path, asked=["n1", "n2", "n3", "n4"])
    assert [one.kind for one in fleet.unusual] == ["two nodes of one name", "wrong clock"]
    assert (fleet.missing.count, fleet.missing.nodes) == (2, "n[3-4]")
    assert fleet.exit_code == 3


def test_first_unread_file_is_named_at_the_time_limit(tmp_path):
    place(tmp_path, "n1")
    (one,) = collect(files([str(tmp_path)]), NOW, until=time.monotonic())
    assert one == unread(f"{tmp_path}/n1.json", "unreadable", f"{LATE}; this and the following files were not read")


def test_report_without_a_node_name_gets_the_name_of_its_file(tmp_path):
    (tmp_path / "rack7.json").write_text(json.dumps(REPORT))
    assert [node.name for node in merged(tmp_path).nodes] == ["rack7"]


def test_path_with_a_null_byte_is_unreadable():
    found = read("a\0", NOW)
    assert (found.file, found.kind) == ("a\0", "unreadable")
    assert "embedded null" in found.why  # "byte" before Python 3.13


@pytest.mark.parametrize("name", ["9" * 4400, "n" + "9" * 4400, "²"])
def test_node_names_with_huge_or_non_ascii_numbers_are_accepted(tmp_path, name):
    place(tmp_path, "n1")
    place(tmp_path, "n2", {"system.node": name})
    assert {node.name[:200] for node in merged(tmp_path).nodes} == {"n1", name[:200]}


@pytest.mark.parametrize("style", FORMATS)
def test_malformed_reports_do_not_prevent_any_format(tmp_path, style):
    for name in ("n1", "n2"):
        place(tmp_path, name)
    place(tmp_path, "n3", {"system.node": "9" * 4400})
    (tmp_path / "deep.json").write_text('{"findings":' + "[" * 1000)
    done = gpucheck("fleet", "merge", tmp_path, "--format", style, "--output", tmp_path / "page")
    assert (done.returncode, "bug in gpucheck" in done.stderr) == (3, False), done.stderr
    assert (tmp_path / "page").stat().st_size > 100


@pytest.mark.parametrize(
    ("verdicts", "exit_code"),
    [
        ([], 3),
        ([("pass", 0)], 0),
        ([("pass", 0), ("warn", 0)], 0),
        ([("pass", 0), ("warn", 1)], 1),  # with --strict
        ([("warn", 0), ("unknown", 3)], 3),
        ([("unknown", 3), ("fail", 1)], 1),
    ],
)
def test_exit_code_of_combined_verdicts(tmp_path, verdicts, exit_code):
    for number, (verdict, code) in enumerate(verdicts):
        place(tmp_path, f"n{number}", verdict=verdict, exit_code=code, unknown_because=["no time"] * (verdict == "unknown"))
    fleet = merged(tmp_path)
    assert fleet.exit_code == exit_code
    assert [*fleet.unknown] == ["no time"] * ("unknown" in dict(verdicts))


def test_nodes_are_only_compared_with_nodes_with_the_same_gpus(tmp_path):
    for number in range(6):
        place(tmp_path, f"a{number}")
    for number in range(2):
        gpus = [{"name": "NVIDIA L40S", "uuid": f"GPU-{number}"}]
        place(tmp_path, f"b{number}", {"gpus.gpus": gpus, "driver.version": "570.1"}, training=[])
    place(tmp_path, "a6", {"driver.version": "570.1"})
    fleet = merged(tmp_path)
    assert [(group.gpus, group.count, group.matching) for group in fleet.groups] == [("NVIDIA H200", 7, 6), ("NVIDIA L40S", 2, 2)]
    assert [(outlier.what, outlier.value, outlier.nodes) for outlier in fleet.groups[0].outliers] == [("driver", "570.1", "a6")]
    assert fleet.slow == ()


def test_every_format_is_valid_for_its_consumers(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    parse = pytest.importorskip("prometheus_client.parser").text_string_to_metric_families
    fleet = fleet_of_all(tmp_path)
    plain = json.loads(json_format.render(fleet))
    jsonschema.validate(plain, json_format.schema())
    assert plain["causes"][0]["nodes"] == "n7"
    rows = list(csv.DictReader(io.StringIO(csv_format.render(fleet))))
    assert [row["node"] for row in rows if row["verdict"] == "fail"] == ["n7"]
    suite = ElementTree.fromstring(junit.render(fleet))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("9", "1", "2")
    values = {(one.name, *one.labels.values()): one.value for family in parse(prometheus.render(fleet)) for one in family.samples}
    assert values["gpucheck_fleet_nodes", "fail"] == 1
    assert values["gpucheck_fleet_cause_nodes", "driver-library-mismatch", "host", "error"] == 1
    shown = terminal.render(fleet, width=80, color=False, ascii=True)
    assert "driver-library-mismatch on n7 (host)" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_page_is_self_contained_and_escapes_text_from_nodes(tmp_path):
    page = html.render(fleet_of_all(tmp_path))
    assert "<script>alert" not in page
    assert not re.search(r"https?://|src=|@import", page)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(data)["counts"] == {"pass": 6, "fail": 1}


def test_memory_per_node_is_bounded_for_huge_reports(tmp_path):
    long, many = "x" * 20_000, 1_000
    gpus = [{"name": f"{number} {long[:1000]}", "uuid": f"{number} {long[:1000]}"} for number in range(many)]
    runs = [{**REPORT["training"][0], "strategy": f"{number} {long[:1000]}", "devices": ["GPU:0"]} for number in range(many)]
    finding = {**FAULT, "code": long, "severity": long, "scope": long, "summary": long}
    changes = {"system.node": long, "system.kernel": long, "driver.version": long, "gpus.gpus": gpus}
    top = {"started_at": long, "verdict": "unknown", "unknown_because": [long], "findings": [finding] * 20, "training": runs}
    place(tmp_path, "n1", changes, **top)
    seen = read(str(tmp_path / "n1.json"), NOW)
    assert len(pickle.dumps(msgspec.to_builtins(seen))) < 200_000
    assert (len(seen.node), seen.node[-1], len(seen.causes[0].summary)) == (LONGEST, "…", LONGEST)
    assert merged(tmp_path).nodes
