"""What is asked wrongly, and what help says: exit styles from settings, contradictions, examples."""

import itertools
import json
import os
import pathlib
import shlex
import subprocess
import sys

import case_files
import pytest
from command import gpucheck

ROOT = str(pathlib.Path(__file__).parents[2])


def said(case, folder):
    """The lines that are not as expected: the exit code and the words of the message; nothing is printed or written."""
    files = [line.split(" = ", 1) for line in case.given if line.startswith("file ")]
    env = dict(line[4:].split(" = ", 1) for line in case.given if line.startswith("env "))
    for name, value in files:
        content = json.loads(value)
        folder.joinpath(name[5:]).write_bytes(content.encode() if isinstance(content, str) else bytes(content))
    args = next(line[2:] for line in case.given if line.startswith("$ "))
    done = gpucheck(*shlex.split(args), cwd=folder, env=env)
    code, words = case.expected[0][3:].split(" ", 1)
    as_said = done.returncode == int(code) and words in " ".join(done.stderr.split()) and done.stdout == ""
    alone = sorted(path.name for path in folder.iterdir()) == sorted(name[5:] for name, _ in files)
    return case.expected if as_said and alone else [f"-> {done.returncode} {done.stderr or done.stdout}", *os.listdir(folder)]


def test_what_is_asked_wrongly_is_one_clear_message(tmp_path):
    path = pathlib.Path(__file__).parents[1] / "cases" / "usage.txt"
    folders = (tmp_path / str(number) for number in itertools.count())

    def outcome(case):
        (folder := next(folders)).mkdir()
        return said(case, folder)

    case_files.check(path, case_files.read(path), outcome, update=False)


def test_explain_needs_no_settings(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.gpucheck]\ntimeout = -1\n")
    assert gpucheck("explain", "driver-missing", cwd=tmp_path).returncode == 0


def test_one_depth_that_is_typed_wins_over_the_configured_one():
    done = gpucheck("--quick", "--allow-cpu", env={"GPUCHECK_LEVEL": "full"})
    assert done.returncode == 0
    assert (
        gpucheck("run", "--allow-cpu", "--quick", "--", "echo", "--quick", "--full", env={"GPUCHECK_LEVEL": "full"}).stdout
        == "--quick --full\n"
    )
    assert gpucheck("--allow-cpu", "-v", env={"GPUCHECK_LEVEL": "quick"}).stdout.count("not looked at with --quick") > 0


def test_the_examples_of_completion_work(tmp_path):
    text = gpucheck("completion", "--help").stdout
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(("mkdir -p", "gpucheck completion "))]
    assert len(lines) == 6
    program = tmp_path / "gpucheck"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m gpucheck "$@"\n')
    program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    env = {**os.environ, "HOME": str(home), "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": ROOT}
    subprocess.run(["sh", "-ec", "\n".join(lines)], env=env, check=True, timeout=60)
    assert sum(path.is_file() and path.stat().st_size > 100 for path in home.rglob("*")) == 3


def test_a_benchmark_whose_time_is_too_short_says_so(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow/__init__.py").write_text("import time; time.sleep(600)")
    done = gpucheck("bench", "--allow-cpu", "--timeout", "3", env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert done.returncode == 3
    assert "TensorFlow did not come up: out of time (--timeout 3)" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("args", [["--replay"], ["--quick", "--expect"], ["compare"]], ids=lambda args: args[-1])
@pytest.mark.parametrize(("file", "kind"), [("fifo", "a pipe"), ("/dev/zero", "a device"), (".", "a folder")])
def test_what_never_ends_is_not_read(tmp_path, args, file, kind):
    os.mkfifo(tmp_path / "fifo")
    done = gpucheck(*args, file, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot read {file}: {kind}, not a regular file" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_report_as_powershell_writes_it_is_read(tmp_path, encoding):
    text = gpucheck("--quick", "--allow-cpu", "--format", "json").stdout
    (tmp_path / "report.json").write_bytes(text.encode(encoding))
    assert gpucheck("--replay", "report.json", cwd=tmp_path).returncode == 0
    assert gpucheck("compare", "report.json", "report.json", cwd=tmp_path).returncode == 0
