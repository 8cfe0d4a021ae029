"""Reports of benchmarks: the recorded files (``make goldens`` rewrites them), and properties of every report."""

import csv
import io
import json
import pathlib

import pytest
from bench.cases import HOT, LOAD, PROFILE, names, one, result
from golden.test_golden import difference
from msgspec.structs import replace

from gpucheck.commands.bench import report
from gpucheck.commands.bench.command import exit_code_of
from gpucheck.commands.bench.figures import measurement
from gpucheck.commands.bench.model import Ask, Sample
from gpucheck.core.child.messages.benchmark import Configuration, Measured

GOLDEN = pathlib.Path(__file__).parent / "golden"
DISPLAY = {"width": 100, "color": False, "ascii": False}
FAILED = measurement(Configuration("mirrored", names(8), "float32", False, 64), Measured("NCCL: no\x1b[31m answer"))
MISSED = measurement(Configuration("mirrored", names(8), "float32", False, 64), None, "interrupted")
ELSEWHERE = measurement(Configuration("tpu", (), "float32", False, 64), None, "not here")
UNREAD = replace(PROFILE, traced=None, problem="no host")
UNMADE = replace(PROFILE, recorded=False, traced=None, problem="busy")
RESULTS = {
    "all-well": result(samples=(Sample(seconds=1.2, device="GPU:0", utilization_percent=98.0),)),
    "one-failed": result([replace(one(), gpus=(LOAD,)), one(2), FAILED], ask=Ask(price_per_hour=3.6)),
    "slowed-down": result([replace(one(2, profile=PROFILE), gpus=(LOAD, HOT))]),
    "profiles": result([one(profile=PROFILE), one(2, profile=UNREAD), one(batch=128, profile=UNMADE)]),
    "interrupted": result([one(2), MISSED], ended="interrupted"),
    "without-devices": result([ELSEWHERE, one()], notes=("a note",)),
    "strong-scaling": result([one(batch=128), one(2)], ask=Ask(global_batch_sizes=(128,))),
    "own-model": result(
        [one(accuracy=False), one(at_once=8, seconds=(0.9, 0.8, 1.0))],
        ask=Ask(model="train:make", steps_per_execution=(1, 8)),
        model="train:make",
    ),
    "waiting": result([one(seconds=(2.0, 2.0, 2.0))], ask=Ask(target_accuracy=0.9)),
}


def test_reports_are_as_recorded(request):
    printed = {
        f"{name}.{style}": report.render(made, style, **DISPLAY)
        for name, made in RESULTS.items()
        for style in ("terminal", "csv", "json")
    }
    if request.config.getoption("--update-goldens"):
        GOLDEN.mkdir(exist_ok=True)
        for name, text in printed.items():
            (GOLDEN / name).write_text(text, encoding="utf-8", newline="")
    assert difference({path.name: path.read_bytes().decode() for path in GOLDEN.iterdir()}, printed) == ""


def test_exit_codes():
    failed = measurement(Configuration("one_device", names(1), "float32", False, 64), Measured("out of memory"))
    made = (result([one()]), result([one(), failed]), result([one()], ended="timed out"), result([one()], ended="interrupted"))
    assert [exit_code_of(each) for each in made] == [0, 1, 3, 130]


@pytest.mark.parametrize("made", RESULTS.values(), ids=RESULTS)
def test_every_report_has_its_format(made):
    rows = list(csv.reader(io.StringIO(report.render(made, "csv", **DISPLAY)), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows) == 1 + len(made.measurements)
    assert json.loads(report.render(made, "json", **DISPLAY))["schema_version"] == "1.0"
    assert "\x1b" not in report.render(made, "terminal", **DISPLAY)
    narrow = report.render(made, "terminal", width=40, color=False, ascii=True)
    assert narrow.isascii()
    assert max(map(len, narrow.splitlines())) <= 40
