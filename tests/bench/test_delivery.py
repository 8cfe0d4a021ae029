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

# The second configuration needs another child, so the first one's result is known when it begins.
ARGUMENTS = ["bench", "--allow-cpu", "--devices", "1", "--devices", "2", "--batch-size", "4", "--format", "json"]
SECOND_SIGNAL = program("delivery_second_signal.py")


def interpreter(folder, measured):
    """Return an interpreter that measures so many configurations without TensorFlow, and then hangs."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {TESTS}/cases/programs/bench_interpreter.py {measured} "$@"\n')
    path.chmod(0o755)
    return ["--python", str(path)]


def measuring(folder, start, *args):
    """Start bench in ``folder``, and wait until the second configuration is measured, which never ends."""
    (folder / "work").mkdir()
    (folder / "temporary").mkdir()
    command = [sys.executable, *start, *ARGUMENTS, *interpreter(folder, 1), *args]
    env = {**ENV, "TMPDIR": str(folder / "temporary")}
    process = subprocess.Popen(command, cwd=folder / "work", env=env, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1, text=True)
    assert any("mirrored on 2 CPUs" in line for line in iter(process.stderr.readline, ""))  # bench prints what it measures
    return process


def pressed_twice(folder, moment, number, pair_seconds):
    """Press Ctrl-C while bench measures; a second signal follows at a chosen moment. Return exit code and output."""
    process = measuring(folder, ["-c", SECOND_SIGNAL, moment, str(int(number)), str(pair_seconds)])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert os.listdir(folder / "temporary") == []
    return process.returncode, out, err


@posix
@pytest.mark.parametrize("moment", ["sweeping", "rendering"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_second_signal_of_a_pair_is_ignored(tmp_path, moment, number):
    code, out, err = pressed_twice(tmp_path, moment, number, 60)
    assert (code, err) == (130, "gpucheck: interrupted\n")
    assert [(one["status"], one["reason"]) for one in json.loads(out)["measurements"]] == [
        ("measured", None),
        ("not-measured", "interrupted"),
    ]


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_signal_after_the_pair_ends_rendering(tmp_path, number, code):
    expected = "gpucheck: interrupted\n" if number == signal.SIGINT else ""
    assert pressed_twice(tmp_path, "rendering", number, 0) == (code, "", expected)


@posix
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)] if os.name == "posix" else []
)
def test_signal_keeps_the_results_so_far(tmp_path, number, code):
    process = measuring(tmp_path, ["-m", "gpucheck"], "--output", "kept.json")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", "gpucheck: interrupted\n" * (number == signal.SIGINT))
    got = json.loads((tmp_path / "work/kept.json").read_text())
    assert (got["ended"], [one["status"] for one in got["measurements"]]) == ("interrupted", ["measured", "not-measured"])
    assert os.listdir(tmp_path / "temporary") == []


FULL = "No space left on device"


def measured(folder, redirection, *args):
    """Run bench with a shell redirection; the folder ``gone`` is removed before the report is written."""
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "gpucheck"]
    command = [*shell, *ARGUMENTS, *interpreter(folder, "all"), *args]
    done = subprocess.run(command, cwd=folder, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done, [line for line in done.stderr.splitlines() if not line.startswith("gpucheck: measuring ")]


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
    done, messages = measured(tmp_path, redirection, "--plot", "a.svg")
    assert (done.returncode, messages) == (code, [f"gpucheck: {message}"])
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


@needs_full
@needs_matplotlib
def test_report_goes_to_standard_output_if_the_file_fails(tmp_path):
    done, messages = measured(tmp_path, "", "--output", "/dev/full", "--plot", "a.svg")
    assert done.returncode == 3
    assert messages == [f"gpucheck: cannot write /dev/full: {FULL}; writing to standard output instead"]
    assert len(json.loads(done.stdout)["measurements"]) == 2
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


@needs_full
@needs_matplotlib
@pytest.mark.parametrize("output", ["-", "b.json", "gone/b.json"])
def test_report_is_written_if_the_plot_fails(tmp_path, output):
    (tmp_path / "gone").mkdir()
    (tmp_path / "a.svg").symlink_to("/dev/full")
    done, messages = measured(tmp_path, "", "--output", output, "--plot", "a.svg")
    report = (tmp_path / output).read_text() if output == "b.json" else done.stdout
    assert len(json.loads(report)["measurements"]) == 2
    assert done.returncode == 3
    fallback = ["gpucheck: cannot write gone/b.json: No such file or directory; writing to standard output instead"]
    assert messages == [*fallback * (output == "gone/b.json"), f"gpucheck: cannot write a.svg: {FULL}"]
