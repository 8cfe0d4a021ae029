"""The troubleshooting table."""

import json

from reports.builders import ROWS, rule

from gpucheck.commands.explain import table
from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.model import Scope, Severity

RULES = (
    rule("driver-missing", scope=Scope.HOST, explains=("gpu-sad",), doc="No driver | at all.\n\nSymptom:\n"),
    rule("gpu-sad", Severity.WARNING, Scope.HARDWARE, doc="\nThe GPU is sad, and one would have to do something about it.\n"),
    rule("clock-low", Severity.WARNING, Scope.HARDWARE, row="low-utilization", doc="The clock is low."),
)
LOOK = {"width": 70, "color": False, "ascii": False}


def test_table_on_a_terminal():
    assert table.render(RULES, ROWS, **LOOK) == (
        "GPU not detected  first check: the driver; then: correct the\n"
        "  environment\n"
        "  driver-missing  error (host) No driver | at all.\n"
        "  gpu-sad         warning (hardware) The GPU is sad, and one would\n"
        "                  have to do something about it.\n"
        "\n"
        "Low utilization  first check: input pipeline; then: profile\n"
        "  clock-low       warning (hardware) The clock is low.\n"
    )


def test_table_on_a_narrow_terminal():
    text = table.render(RULES, ROWS, width=30, color=True, ascii=True)
    assert "driver-missing" in text
    plain = table.render(RULES, ROWS, width=30, color=False, ascii=True)
    assert max(map(len, plain.splitlines())) <= 30


def test_table_as_markdown():
    assert table.render(RULES, ROWS, "markdown", **LOOK) == (
        "| problem | code | severity | scope | meaning |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| GPU not detected | `driver-missing` | error | host | No driver \\| at all. |\n"
        "| GPU not detected | `gpu-sad` | warning | hardware | The GPU is sad, and one would have to do something about it. |\n"
        "| Low utilization | `clock-low` | warning | hardware | The clock is low. |\n"
    )


def test_table_as_json():
    entries = json.loads(table.render(RULES, ROWS, "json", **LOOK))
    assert [entry["code"] for entry in entries] == ["driver-missing", "gpu-sad", "clock-low"]
    assert entries[0] == {
        "row": "gpu-not-detected",
        "problem": "GPU not detected",
        "first_check": "the driver",
        "action": "correct the environment",
        "code": "driver-missing",
        "severity": "error",
        "scope": "host",
        "title": "No driver | at all.",
        "explains": ["gpu-sad"],
    }


def test_every_real_rule_has_its_line():
    lines = table.render(load_rules(), load_rows(), "markdown", **LOOK).splitlines()
    assert len(lines) == 2 + len(load_rules())
