"""What commands do that takes more than a file of tests/cases/commands: examples run by a shell, pipes, encodings."""

import os
import pathlib
import subprocess
import sys

import pytest
from command import gpucheck

ROOT = str(pathlib.Path(__file__).parents[2])


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
    assert "TensorFlow did not start: out of time (--timeout 3)" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("args", [["--replay"], ["--quick", "--expect"], ["compare"]], ids=lambda args: args[-1])
@pytest.mark.parametrize(("file", "kind"), [("fifo", "a pipe"), ("/dev/zero", "a device"), (".", "a folder")])
def test_what_never_ends_is_not_read(tmp_path, args, file, kind):
    os.mkfifo(tmp_path / "fifo")
    done = gpucheck(*args, file, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot read {file}: {kind}, not a regular file" in done.stderr


@pytest.mark.tensorflow
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_report_as_powershell_writes_it_is_read(tmp_path, encoding):
    text = gpucheck("--quick", "--allow-cpu", "--format", "json").stdout
    (tmp_path / "report.json").write_bytes(text.encode(encoding))
    assert gpucheck("--replay", "report.json", cwd=tmp_path).returncode == 0
    assert gpucheck("compare", "report.json", "report.json", cwd=tmp_path).returncode == 0
