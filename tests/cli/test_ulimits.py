"""A low limit on open files: gpucheck raises its own limit, not that of its commands, and never ends in a traceback."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="limits of POSIX")
from gpucheck.core.system import ulimits  # noqa: E402

ROOT = str(pathlib.Path(__file__).parents[2])
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
LOW = "process-limit-too-low"
needs_room = pytest.mark.skipif(0 <= HARD < ulimits.REQUESTED, reason="the hard limit on open files is low here")
needs_a_bound = pytest.mark.skipif(sys.platform != "linux", reason="only /proc shows whether this process may raise hard limits")


def limited(flags, count, *args, path=ROOT):
    """Run gpucheck in a shell after ``ulimit`` with these flags and a number of files."""
    line = f'ulimit {flags} {count}; exec "$@"'
    command = ["bash", "-c", line, "bash", sys.executable, "-m", "gpucheck", *args]
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, stdin=subprocess.DEVNULL)


def may_raise():
    """Whether this process has CAP_SYS_RESOURCE, and therefore no hard limit."""
    status = pathlib.Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> 24 & 1)


def codes(report):
    return [finding["code"] for finding in report["findings"] if not finding["explained_by"]]


@pytest.mark.tensorflow
@needs_room
@pytest.mark.parametrize("count", [6, 16, 24])
def test_soft_limit_is_raised_and_the_original_is_judged(count):
    done = limited("-S -n", count, "--quick", "--allow-cpu", "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["facts"]["limits"]["open_files"] == count
    assert [probe for probe in report["probes"] if probe["status"] == "failed"] == []
    assert LOW in codes(report)


@needs_a_bound
@pytest.mark.parametrize("count", [8, 16, 24])
def test_low_hard_limit_is_named_without_a_verdict(count):
    if may_raise():
        pytest.skip("this process may raise hard limits")
    done = limited("-n", count, "--quick", "--allow-cpu", "--format", "json")
    assert (done.returncode, done.stderr) == (3, "")
    report = json.loads(done.stdout)
    assert codes(report) == [LOW]
    (why,) = report["unknown_because"]
    assert why.startswith(f"{count} files may be open in this process (ulimit -n)")


@needs_a_bound
def test_command_that_cannot_examine_prints_one_line():
    if may_raise():
        pytest.skip("this process may raise hard limits")
    done = limited("-n", 24, "bench", "--allow-cpu")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("gpucheck: no verdict: 24 files may be open in this process (ulimit -n)")
    assert done.stderr.count("\n") == 1


@pytest.mark.tensorflow
@needs_room
def test_command_of_run_gets_the_original_limits():
    done = limited("-S -n", 24, "run", "--quick", "--allow-cpu", "--", "bash", "-c", "ulimit -S -n; ulimit -H -n")
    assert done.returncode == 0
    assert done.stdout.split() == ["24", "unlimited" if HARD == resource.RLIM_INFINITY else str(HARD)]


@needs_room
def test_tensorflow_is_imported_under_the_original_limits(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    text = "import resource\nraise ImportError(f'limits {resource.getrlimit(resource.RLIMIT_NOFILE)}')"
    (tmp_path / "tensorflow/__init__.py").write_text(text)
    done = limited("-S -n", 24, "--allow-cpu", "--no-smoke", "--format", "json", path=f"{tmp_path}:{ROOT}")
    assert f"limits (24, {HARD})" in json.loads(done.stdout)["facts"]["tensorflow"]["error"]


@pytest.mark.tensorflow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux'")
@pytest.mark.parametrize("mebibytes", [120, 240, 600])  # without smaller stacks, all threads map 1.2 GiB
def test_low_address_space_is_named_without_a_traceback(mebibytes):
    done = limited("-v", mebibytes * 1024, "run", "--default", "--allow-cpu", "--", "echo", "started")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.startswith(
        f"gpucheck: not started: {LOW}: The limit on this process's address space (ulimit -v) is {mebibytes} MiB"
    )
    assert "Exception in thread" not in done.stderr


def test_limit_is_reported_only_for_matching_errors():
    assert ulimits.explain(OSError(24, "Too many open files")).startswith("no verdict: ")
    assert "ulimit -v" in ulimits.explain(MemoryError())
    assert ulimits.explain(OSError(2, "No such file")) is None
    assert ulimits.explain(ValueError("24")) is None


def test_original_limits():
    assert ulimits.original_open_files() is None  # only the command line raises the limits
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert ulimits.soft("NOFILE") == (None if soft == resource.RLIM_INFINITY else soft)
    assert ulimits.soft("NO_SUCH_LIMIT") is None


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_truncated_output_is_not_a_success(tmp_path, unbuffered):
    command = f"ulimit -f 1; exec {sys.executable} -m gpucheck rules > {tmp_path}/rules"
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}  # without buffering, a write may be partial without an error
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, env=env, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (3, "gpucheck: cannot write to standard output: File too large\n")
