"""Whole transcripts. GPUCHECK_UPDATE_GOLDEN=1 writes them anew; read the difference before keeping it."""

import os
import pathlib
import re
import subprocess
import sys

import msgspec
import pytest
from reports.builders import GARBAGE, PASSED, eight, others, report
from reports.cases import CASES, cusolver

from gpucheck.model import Level, ProbeStatus, Request, Status, TrainingRun
from gpucheck.reports import terminal
from gpucheck.reports.shared.words import clean

GOLDEN = pathlib.Path(__file__).parent / "golden"
LOOKS = [
    ("80", {"width": 80, "ascii": False, "verbose": False}),
    ("60", {"width": 60, "ascii": True, "verbose": False}),
    ("110v", {"width": 110, "ascii": False, "verbose": True}),
]


def render(made, *, width=80, color=False, ascii=False, verbose=False):
    return terminal.render(made, width=width, color=color, ascii=ascii, verbose=verbose)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("name", "look"), LOOKS)
def test_golden(case, name, look):
    text = render(CASES[case](), **look)
    golden = GOLDEN / f"{case}.{name}.txt"
    if os.environ.get("GPUCHECK_UPDATE_GOLDEN") == "1":
        golden.write_text(text, encoding="utf-8", newline="")
    assert text == golden.read_bytes().decode()


def test_every_golden_has_its_case():
    assert {path.name for path in GOLDEN.iterdir()} == {f"{case}.{name}.txt" for case in CASES for name, _ in LOOKS}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("verbose", [False, True])
def test_only_commands_are_wider_than_asked(case, width, verbose):
    made = CASES[case]()
    commands = {clean(fix.command) for finding in made.findings for fix in finding.fix if fix.command}
    commands |= {f"more  gpucheck explain {finding.code}" for finding in made.findings}
    for line in render(made, width=width, verbose=verbose).splitlines():
        assert len(line) <= width or line.strip() in commands
        assert line == line.rstrip()


def test_commands_are_never_broken():
    lines = [line.strip() for line in render(cusolver(), width=40).splitlines()]
    for fix in cusolver().findings[0].fix[:3]:
        assert fix.command is None or fix.command in lines


@pytest.mark.parametrize("case", CASES)
def test_ascii_is_ascii(case):
    assert render(CASES[case](), ascii=True, verbose=True).isascii()


@pytest.mark.parametrize("case", CASES)
def test_color_changes_no_character(case):
    plain, colored = render(CASES[case](), color=False), render(CASES[case](), color=True)
    assert "\x1b" not in plain
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain


def test_nothing_in_a_value_reaches_the_terminal_as_a_command():
    text = render(CASES["garbage"](), verbose=True)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\udcff]", text)
    assert "[red]" in text  # not taken for markup
    assert GARBAGE not in text
    text.encode("utf-8")


def test_environment_does_not_decide_the_look(monkeypatch):
    expected = render(CASES["warnings"]())
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "20", "TTY_COMPATIBLE": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    assert render(CASES["warnings"]()) == expected


def last(made, **look):
    return render(made, width=400, **look).splitlines()[-2:]


def test_what_was_not_looked_at_is_never_ok():
    late = {"driver": (ProbeStatus.TIMED_OUT, "did not answer within 10 s", 10.0)}
    text = render(report("h200", late=late))
    assert "driver       –        did not answer within 10 s\n" in text


def test_missing_driver_is_no_failure_where_no_finding_blames_it():
    text = render(report("laptop-cpu"), verbose=True)
    assert "FAIL" not in text
    assert "WARN" not in text
    assert re.search(r"driver +–", text)


def test_quick_says_what_it_left_out():
    assert last(CASES["quick"]())[0] == (
        "No fault found by the quick checks; TensorFlow and training were not looked at (--quick)."
    )


def test_quick_on_a_cpu_says_that_it_is_one():
    late = dict.fromkeys(("tensorflow", "keras", "training"), (ProbeStatus.SKIPPED, "not looked at with --quick", 0.0))
    made = report("laptop-cpu", late=late, request=Request(level=Level.QUICK, allow_cpu=True))
    assert "for the CPU only (--allow-cpu): no accelerator was found" in last(made)[0]


def test_no_smoke_says_so():
    late = {"training": (ProbeStatus.SKIPPED, "not looked at with --no-smoke", 0.0)}
    made = report("h200", late=late, request=Request(smoke=False))
    assert last(made)[0] == "No fault found; training was not looked at (--no-smoke)."


def test_an_untrained_gpu_is_no_ready_gpu():
    made = report("h200", [("training.runs", [{**PASSED, "devices": ["CPU:0"]}])])
    assert last(made)[0] == ("Ready for the CPU only: 1 × NVIDIA H200 was found, and not trained; one_device trained on the CPU.")


def test_some_trained_gpus_are_not_all():
    runs = [{**PASSED, "devices": [f"GPU:{index}"]} for index in (0, 1, 2, 4)]
    assert last(eight(runs=runs))[0] == "Ready on 4 of 8 × NVIDIA H200: GPU:0-2,4 trained (one_device)."


def test_strict_warnings_say_that_they_count():
    made = msgspec.structs.replace(CASES["warnings"](), exit_code=1)
    assert last(made)[1].startswith("2 warnings (a fault with --strict) · ")


def test_counts():
    made = report("h200", judgements=[*others(Status.SKIPPED, 2, "why", name="x"), *others(Status.CRASHED, 1, "oh", name="y")])
    assert last(made)[1] == "74 causes ruled out, 2 not checked, 1 check crashed (-v says why) · 6.8 s"


def test_verbose_lists_every_gap_with_its_reason():
    text = render(CASES["unknown"](), verbose=True, width=200)
    for number in range(12):
        assert f"unseen-{number}" in text
    assert "tensorflow: did not answer within 120 s" in text
    assert "crashed, please report it: KeyError: 'devices'" in text
    assert re.search(r"training +failed +3.2 s +ChildError: the child was killed by SIGKILL", text)


def test_each_unknown_reason_is_told():
    made = CASES["unknown"]()
    text = render(made, width=300)
    assert len(made.unknown_because) > 1
    for reason in made.unknown_because:
        assert reason in text


def test_a_column_is_dropped_before_a_line_breaks():
    runs = tuple(TrainingRun(strategy="multi_worker_mirrored", devices=tuple(f"GPU:{n}" for n in range(0, 16, 2)), replicas=8,
                             precision="mixed_bfloat16", status="passed", samples_per_second=1e6) for _ in range(2))  # fmt: skip
    made = msgspec.structs.replace(report("h200"), training=runs)
    rows = [line for line in render(made, width=60).splitlines() if "multi_worker_mirrored" in line and "1,000,000" in line]
    assert len(rows) == 2


def test_finding_without_anything():
    made = report("h200")
    bare = msgspec.structs.replace(cusolver().findings[0], evidence=(), fix=(), affects=(), summary="Bare.")
    text = render(msgspec.structs.replace(made, findings=(bare,)))
    assert "Bare.    cuda-libraries-unreachable" in text


def test_a_report_without_facts_is_rendered():
    made = msgspec.structs.replace(report("h200"), facts={}, probes=(), outcomes=(), training=())
    assert "system       –        not looked at\n" in render(made, verbose=True)


def test_little_of_rich_is_imported():
    """Its console alone would cost --quick a tenth of its time."""
    code = "import sys, gpucheck.reports.terminal; print({'rich.console', 'rich.text', 'dataclasses'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
