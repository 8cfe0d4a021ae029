"""Reports of benchmarks: the recorded files (``make goldens`` rewrites them), and properties of every report."""

import csv
import io
import json
import pathlib

import html5lib
import pytest
from bench.cases import HOT, LOAD, PROFILE, names, one, result
from golden.test_golden import difference
from msgspec.structs import replace

from gpucheck.commands.bench import report, wording
from gpucheck.commands.bench.command import exit_code_of
from gpucheck.commands.bench.figures import measurement
from gpucheck.commands.bench.model import Ask, Sample
from gpucheck.commands.bench.wording import advice
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


def test_reports_match_recorded_files(request):
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


def text_of(result):
    document = html5lib.HTMLParser(strict=True).parse(report.render_html(result))
    return " ".join("".join(document.itertext()).split())


@pytest.mark.parametrize("name", RESULTS)
def test_page_has_every_figure(name):
    result = RESULTS[name]
    text = text_of(result)
    figures = [value for each in result.measurements if each.status == "measured" for _, value in wording.figures(each)]
    reasons = [each.reason for each in result.measurements if each.status != "measured"]
    assert figures or reasons
    for expected in (*figures, *result.notes, *advice(result.measurements), wording.machine(result), wording.method(result)):
        assert " ".join(expected.split()) in text
    assert all(reason.split("\x1b")[0] in text for reason in reasons)


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("all-well", "Fastest: 1,280 (640 to 2,560) samples/s, mirrored on GPU:0-1, float32, batch 128 per replica"),
        ("waiting", "320 (320 to 320) samples/s, one_device on GPU:0, float32, batch 64 per replica"),
        (
            "one-failed",
            "Fastest: 640 (320 to 1,280) samples/s, mirrored on GPU:0-1, float32, batch 64 per replica; 1 of 3 configurations",
        ),
        ("interrupted", "Interrupted after 1 of 2 configurations"),
    ],
)
def test_heading_states_the_conclusion(name, heading):
    document = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(report.render_html(RESULTS[name]))
    assert "".join(document.find(".//h1").itertext()).startswith(heading)


def test_hardware_names_are_escaped():
    hostile = replace(RESULTS["all-well"], hardware=("GPU:0 (<script>alert(1)</script>\x1b[31m)",))
    written = report.render_html(hostile)
    assert "<script" not in written
    assert "\x1b" not in written


def test_page_without_measurements():
    text = text_of(replace(RESULTS["interrupted"], measurements=(), hardware=(), versions={}))
    assert "Interrupted after 0 of 0 configurations" in text
    assert "Configurations" not in text
    assert ";;" not in text.replace(" ", "")
