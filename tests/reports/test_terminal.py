"""Properties of every report on a terminal; recorded reports are in the files of ``test_goldens.py``."""

import re
import subprocess
import sys

import msgspec
import pytest
from reports.builders import GARBAGE, report
from reports.cases import CASES, cusolver

from gpucheck.core.model import Fix, TrainingRun
from gpucheck.core.reports import terminal
from gpucheck.core.reports.shared.words import clean

every_case = pytest.mark.parametrize("case", CASES)


def render(made, *, width=80, color=False, ascii=False, verbose=False):
    return terminal.render(made, width=width, color=color, ascii=ascii, verbose=verbose)


@every_case
@pytest.mark.parametrize("width", [40, 60, 200])
@pytest.mark.parametrize("verbose", [False, True])
def test_only_commands_are_wider_than_the_terminal_and_none_is_wrapped(case, width, verbose):
    made = CASES[case]()
    commands = {clean(fix.command) for finding in made.findings for fix in finding.fix if fix.command}
    commands |= {f"more  gpucheck explain {finding.code}" for finding in made.findings}
    lines = render(made, width=width, verbose=verbose).splitlines()
    assert [line for line in lines if (len(line) > width and line.strip() not in commands) or line != line.rstrip()] == []
    assert made.findings == () or lines.index(f"    more  gpucheck explain {made.findings[0].code}")


@every_case
def test_colors_and_ascii_do_not_change_the_text(case):
    plain, colored = render(CASES[case](), color=False), render(CASES[case](), color=True)
    assert "\x1b" not in plain
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain
    assert render(CASES[case](), ascii=True, verbose=True).isascii()


def test_values_have_no_control_characters():
    text = render(CASES["garbage"](), verbose=True)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\udcff]", text)
    assert "[red]" in text  # not taken for markup
    assert GARBAGE not in text
    text.encode("utf-8")


def test_output_does_not_depend_on_terminal_variables(monkeypatch):
    expected = render(CASES["warnings"]())
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "20", "TTY_COMPATIBLE": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    assert render(CASES["warnings"]()) == expected


def test_column_is_dropped_before_a_line_wraps():
    run = TrainingRun(
        strategy="multi_worker_mirrored",
        devices=tuple(f"GPU:{n}" for n in range(0, 16, 2)),
        replicas=8,
        precision="mixed_bfloat16",
        status="passed",
        samples_per_second=1e6,
    )
    text = render(msgspec.structs.replace(report("h200"), training=(run, run)), width=60)
    assert sum("multi_worker_mirrored" in line and "1,000,000" in line for line in text.splitlines()) == 2
    tables = [render(report("laptop-cpu"), ascii=ascii).splitlines() for ascii in (False, True)]
    first, second = (next(line.split() for line in lines if "samples/s" in line) for lines in tables)
    assert first == second  # a two-letter arrow does not drop another column


def test_finding_without_details_and_report_without_facts():
    bare = msgspec.structs.replace(cusolver().findings[0], evidence=(), fix=(), affects=(), summary="Bare.")
    assert "Bare.    cuda-libraries-unreachable" in render(msgspec.structs.replace(report("h200"), findings=(bare,)))
    made = msgspec.structs.replace(report("h200"), facts={}, probes=(), outcomes=(), training=())
    assert "  system, driver, gpus, cuda, libraries, tensorflow, keras, training: not\n" in render(made, verbose=True)


def test_text_matches_the_exit_code_with_strict():
    strict, lenient = render(CASES["strict"]()), render(CASES["warnings"]())
    assert "Failed: with --strict, warnings are faults." in strict
    assert not re.search("No fault found|Ready", strict)
    assert re.search("No fault found|Ready", lenient)
    assert "--strict" not in lenient


def test_console_of_rich_is_not_imported():
    """Its console alone would cost --quick a tenth of its time."""
    code = "import sys, gpucheck.core.reports.terminal; print({'rich.console', 'rich.text'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize(
    ("fix", "line"),
    [
        (Fix(text="Load the modules", command="module load cuda"), "Then: gpucheck"),
        (Fix(text="Set it", command="export A=1"), "Then, in the same shell: gpucheck"),
        (Fix(text="Use a machine with an NVIDIA GPU"), None),
        (Fix(text="List devices", command="lspci", kind="look"), None),
    ],
    ids=lambda value: value.text if isinstance(value, Fix) else "",
)
def test_check_is_suggested_again_only_after_a_command(fix, line):
    made = cusolver()
    first = made.findings[0]
    made = msgspec.structs.replace(made, findings=(msgspec.structs.replace(first, fix=(fix,)),))
    text = terminal.render(made, width=80, color=False, ascii=False, verbose=False, again="gpucheck")
    assert [one for one in text.splitlines() if one.startswith("Then")] == ([] if line is None else [line])
