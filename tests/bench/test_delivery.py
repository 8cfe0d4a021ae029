"""Results reach the user after a signal, after a second one, and if the report or the plot can't be written."""

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

# One configuration is measured, Ctrl-C interrupts the next one, and a second signal follows at a chosen moment.
PRESSED_TWICE = program("delivery_pressed_twice.py")
ARGUMENTS = ["bench", "--allow-cpu", "--strategy", "one_device", "--batch-size", "4", "--batch-size", "5", "--format", "json"]


def pressed_twice(folder, moment, number, pair_seconds):
    """Run bench with its temporary files in ``folder``."""
    command = [sys.executable, "-c", PRESSED_TWICE, moment, str(int(number)), str(pair_seconds), *ARGUMENTS]
    env = {**ENV, "TMPDIR": str(folder)}
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


@posix
@pytest.mark.parametrize("moment", ["sweeping", "rendering"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_second_signal_of_a_pair_is_ignored(tmp_path, moment, number):
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
def test_signal_after_the_pair_ends_rendering(tmp_path, number, code):
    done = pressed_twice(tmp_path, "rendering", number, 0)
    expected = "gpucheck: interrupted\n" if number == signal.SIGINT else ""
    assert (done.returncode, done.stdout, done.stderr) == (code, "", expected)
    assert list(tmp_path.iterdir()) == []


# One configuration is measured, and the next one never is.
SIGNALLED = program("delivery_signalled.py")


@posix
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)] if os.name == "posix" else []
)
def test_signal_keeps_the_results_so_far(tmp_path, number, code):
    command = [sys.executable, "-c", SIGNALLED, *ARGUMENTS, "--output", "kept.json"]
    env = {**ENV, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True)
    assert process.stderr.readline() == "measured one\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", "gpucheck: interrupted\n" * (number == signal.SIGINT))
    got = json.loads((tmp_path / "kept.json").read_text())
    assert (got["ended"], [one["status"] for one in got["measurements"]]) == ("interrupted", ["measured", "not-measured"])
    assert os.listdir(tmp_path) == ["kept.json"]


MEASURED = program("delivery_measured.py")
FULL = "No space left on device"


def measured(folder, redirection, *args):
    """Run bench with a shell redirection; the folder ``gone`` is removed before the report is written."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-c", MEASURED, "bench", "--format", "json", *args]
    return subprocess.run(command, cwd=folder, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


@posix
@needs_matplotlib
@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        pytest.param(">&-", 0, "standard output was closed before everything was written", id="closed"),
        pytest.param("> /dev/full", 3, f"cannot write to standard output: {FULL}", id="full", marks=needs_full),
    ],
)
def test_plot_is_drawn_if_standard_output_fails(tmp_path, redirection, code, message):
    done = measured(tmp_path, redirection, "--plot", "a.svg")
    assert (done.returncode, done.stderr) == (code, f"gpucheck: {message}\n")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


@needs_full
@needs_matplotlib
def test_report_goes_to_standard_output_if_the_file_fails(tmp_path):
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
def test_report_is_written_if_the_plot_fails(tmp_path, output):
    (tmp_path / "gone").mkdir()
    (tmp_path / "a.svg").symlink_to("/dev/full")
    done = measured(tmp_path, "", "--output", output, "--plot", "a.svg")
    report = (tmp_path / output).read_text() if output == "b.json" else done.stdout
    assert len(json.loads(report)["measurements"]) == 4
    assert done.returncode == 3
    fallback = ["gpucheck: cannot write gone/b.json: No such file or directory; writing to standard output instead"]
    assert done.stderr.splitlines() == [*fallback * (output == "gone/b.json"), f"gpucheck: cannot write a.svg: {FULL}"]
