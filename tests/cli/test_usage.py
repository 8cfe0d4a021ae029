"""What is asked wrongly, and what help says: exit styles from settings, contradictions, examples."""

import os
import pathlib
import subprocess
import sys

import pytest
from command import gpucheck

ROOT = str(pathlib.Path(__file__).parents[2])


WRONG = [
    ["--nosuch"],
    ["check", "--nosuch"],
    ["--quick", "--expect", "missing.toml"],
    ["--quick", "--output", "/no/such/x"],
    ["nosuch"],
]


@pytest.mark.parametrize("args", WRONG, ids=" ".join)
@pytest.mark.parametrize(("style", "usage"), [("nagios", 3), ("docker", 1)])
def test_wrong_usage_follows_the_configured_exit_style(tmp_path, args, style, usage):
    assert gpucheck(*args, cwd=tmp_path).returncode == 2
    assert gpucheck(*args, cwd=tmp_path, env={"GPUCHECK_EXIT_STYLE": style}).returncode == usage
    (tmp_path / "pyproject.toml").write_text(f'[tool.gpucheck]\nexit-style = "{style}"\n')
    assert gpucheck(*args, cwd=tmp_path).returncode == usage
    assert gpucheck(*args, cwd=tmp_path, env={"GPUCHECK_EXIT_STYLE": "npd"}).returncode == 2
    assert gpucheck("--exit-style", "npd", *args, cwd=tmp_path).returncode == 2


def test_a_setting_that_is_wrong_itself_follows_the_exit_style(tmp_path):
    assert gpucheck("--exit-style", "nagios", "--quick", cwd=tmp_path, env={"GPUCHECK_TIMEOUT": "abc"}).returncode == 3
    assert gpucheck("--quick", cwd=tmp_path, env={"GPUCHECK_TIMEOUT": "abc", "GPUCHECK_EXIT_STYLE": "nagios"}).returncode == 3
    assert gpucheck("--quick", cwd=tmp_path, env={"GPUCHECK_TIMEOUT": "abc"}).returncode == 2
    assert gpucheck("--quick", cwd=tmp_path, env={"GPUCHECK_EXIT_STYLE": "slurm"}).returncode == 2
    (tmp_path / "pyproject.toml").write_text('[tool.gpucheck]\nexit-style = "nagios"\nnosuch = 1\n')
    assert gpucheck("--quick", cwd=tmp_path).returncode == 3
    (tmp_path / "pyproject.toml").write_text('[tool.gpucheck]\nexit-style = "nagios"\nnosuch = = 1\n')
    assert gpucheck("--quick", cwd=tmp_path).returncode == 2


def test_an_exit_style_is_the_checks_alone(tmp_path):
    done = gpucheck("run", "--nosuch", "true", cwd=tmp_path, env={"GPUCHECK_EXIT_STYLE": "nagios"})
    assert done.returncode == 2
    assert gpucheck("explain", "driver-mising", cwd=tmp_path, env={"GPUCHECK_EXIT_STYLE": "nagios"}).returncode == 2


@pytest.mark.parametrize(
    ("args", "pair"),
    [
        (["--quick", "--full"], "--quick and --full"),
        (["--full", "--quick"], "--quick and --full"),
        (["run", "--quick", "--default", "--", "true"], "--quick and --default"),
        (["compare", "x.json", "--default", "--full"], "--default and --full"),
        (["snapshot", "-", "--quick", "--full"], "--quick and --full"),
    ],
)
def test_two_depths_are_none(args, pair):
    done = gpucheck(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{pair} ask for different depths; give one" in done.stderr


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


def test_a_target_accuracy_that_is_none():
    for wrong in ("2", "0", "-1", "nan", "soon"):
        done = gpucheck("bench", "--target-accuracy", wrong)
        assert done.returncode == 2
        assert f"'{wrong}' is not a number above 0 and at most 1" in done.stderr
    assert "'0' is not a positive number" in gpucheck("bench", "--price-per-hour", "0").stderr


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
