"""What was measured reaches the user: past a second signal, and past a report or a picture that can't be written."""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from case_files import program

TESTS = pathlib.Path(__file__).parents[1]
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and shells of POSIX")
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
needs_matplotlib = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")

# One configuration is measured, Ctrl-C comes while the next is, and another signal at a chosen moment after it.
PRESSED_TWICE = program("delivery_pressed_twice.py")
ASKED = ["bench", "--allow-cpu", "--strategy", "one_device", "--batch-size", "4", "--batch-size", "5", "--format", "json"]


def pressed_twice(folder, moment, number, pair_seconds):
    """bench with its temporary files in ``folder``."""
    command = [sys.executable, "-c", PRESSED_TWICE, moment, str(int(number)), str(pair_seconds), *ASKED]
    env = {**ENV, "TMPDIR": str(folder)}
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


@posix
@pytest.mark.parametrize("moment", ["sweeping", "rendering"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_the_second_signal_of_a_pair_costs_nothing(tmp_path, moment, number):
    done = pressed_twice(tmp_path, moment, number, 60)
    assert (done.returncode, done.stderr) == (130, "gpucheck: interrupted\n")
    got = json.loads(done.stdout)
    assert [(one["status"], one["reason"]) for one in got["measurements"]] == [
        ("measured", None),
        ("not-measured", "interrupted"),
    ]
    assert list(tmp_path.iterdir()) == []


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_a_signal_after_the_pair_ends_the_rendering(tmp_path, number, code):
    done = pressed_twice(tmp_path, "rendering", number, 0)
    said = "gpucheck: interrupted\n" if number == signal.SIGINT else ""
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)
    assert list(tmp_path.iterdir()) == []


MEASURED = program("delivery_measured.py")
FULL = "No space left on device"


def measured(folder, redirection, *args):
    """bench once everything is measured, by when the folder ``gone`` is; with a redirection of the shell."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-c", MEASURED, "bench", "--format", "json", *args]
    return subprocess.run(command, cwd=folder, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


@posix
@needs_matplotlib
@pytest.mark.parametrize(
    ("redirection", "code", "words"),
    [
        pytest.param(">&-", 0, "standard output was closed before everything was written", id="closed"),
        pytest.param("> /dev/full", 3, f"cannot write to standard output: {FULL}", id="full", marks=needs_full),
    ],
)
def test_the_picture_is_drawn_where_nobody_gets_the_report(tmp_path, redirection, code, words):
    done = measured(tmp_path, redirection, "--plot", "a.svg")
    assert (done.returncode, done.stderr) == (code, f"gpucheck: {words}\n")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


@needs_full
@needs_matplotlib
def test_a_report_that_cannot_be_written_is_shown(tmp_path):
    done = measured(tmp_path, "", "--output", "/dev/full", "--plot", "a.svg")
    assert (done.returncode, done.stderr) == (
        3,
        f"gpucheck: cannot write /dev/full: {FULL}; writing to standard output instead\n",
    )
    assert len(json.loads(done.stdout)["measurements"]) == 4
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


@needs_full
@needs_matplotlib
@pytest.mark.parametrize("output", ["-", "b.json", "gone/b.json"])
def test_the_report_is_there_where_the_picture_cannot_be_written(tmp_path, output):
    (tmp_path / "gone").mkdir()
    (tmp_path / "a.svg").symlink_to("/dev/full")
    done = measured(tmp_path, "", "--output", output, "--plot", "a.svg")
    report = (tmp_path / output).read_text() if output == "b.json" else done.stdout
    assert len(json.loads(report)["measurements"]) == 4
    assert done.returncode == 3
    told = ["gpucheck: cannot write gone/b.json: No such file or directory; writing to standard output instead"]
    assert done.stderr.splitlines() == [*told * (output == "gone/b.json"), f"gpucheck: cannot write a.svg: {FULL}"]
