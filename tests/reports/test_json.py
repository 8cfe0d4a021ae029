"""The report as JSON."""

import json

import msgspec
from reports.builders import report
from reports.cases import CASES

from gpucheck.model import TrainingRun
from gpucheck.reports import json as format_json


def test_is_the_report():
    made = CASES["fail-cusolver"]()
    text = format_json.render(made)
    assert json.loads(text) == json.loads(msgspec.json.encode(made))
    assert [finding["code"] for finding in json.loads(text)["findings"]] == [finding.code for finding in made.findings]
    assert text.startswith('{\n  "schema_version": "')
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")


def test_numbers_that_are_not_finite_become_null():
    run = TrainingRun(
        strategy="one_device",
        devices=("CPU:0",),
        replicas=1,
        precision="float32",
        status="failed",
        samples_per_second=float("nan"),
        step_seconds=float("inf"),
    )
    made = msgspec.structs.replace(report("h200"), training=(run,))
    (told,) = json.loads(format_json.render(made), parse_constant=lambda name: 1 / 0)["training"]
    assert told["samples_per_second"] is None
    assert told["step_seconds"] is None


def test_a_file_name_that_is_not_utf8_and_a_huge_number():
    made = msgspec.structs.replace(
        report("h200"), facts={"environment": {"paths": ["/tmp/\udcff"], "huge": 1 << 70, "vast": 1 << 5000, "\udcfe": True}}
    )
    facts = json.loads(format_json.render(made))["facts"]["environment"]
    assert facts == {"paths": ["/tmp/\\udcff"], "huge": float(1 << 70), "vast": None, "\\udcfe": True}


def test_garbage_is_valid_json():
    text = format_json.render(CASES["garbage"]())
    assert json.loads(text)["findings"][0]["code"] == "compute-mode-exclusive"
    assert "\x1b" not in text
