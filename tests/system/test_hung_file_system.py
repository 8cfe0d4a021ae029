"""Every command ends on time if any path from the user or the environment is on a hung file system."""

import contextlib
import json
import os
import subprocess
import sys

import pytest
from hung_file_system import mounted

LIMIT = 4.0
SLACK = 12.0  # for a slow machine; without a limit it would wait forever
CHECK = ("--quick", "--allow-cpu", "--timeout", str(LIMIT))


@pytest.fixture(scope="module")
def hung(tmp_path_factory):
    """A hung folder."""
    with mounted(tmp_path_factory.mktemp("hung")) as (folder, reason):
        if folder is None:
            pytest.skip(reason)
        yield folder


def gpucheck(*args, **env):
    """Run it; a process that has to be killed is a failure."""
    argv = [sys.executable, "-m", "gpucheck", *args]
    return subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, timeout=LIMIT + SLACK)


NAMED = {
    "--output": (*CHECK, "--output", "{}/x"),
    "--report": (*CHECK, "--report", "json={}/x"),
    "--expect": (*CHECK, "--expect", "{}/x"),
    "--replay": (*CHECK, "--replay", "{}/x"),
    "--python": (*CHECK, "--python", "{}/x"),
    "snapshot": ("snapshot", "{}/x", *CHECK),
    "compare": ("compare", "{}/x", *CHECK),
    "bench --output": ("bench", "--timeout", str(LIMIT), "--output", "{}/x"),
    "bench --data": ("bench", "--timeout", str(LIMIT), "--data", "{}/x.npz"),
    "bench --profile": ("bench", "--timeout", str(LIMIT), "--profile", "{}/x/y"),
    "env --python": ("env", "--timeout", str(LIMIT), "--python", "{}/x"),
    "setup --apply": ("setup", "--timeout", str(LIMIT), "--apply", "{}/x"),
    "explain": ("explain", "--timeout", str(LIMIT), "{}/x"),
    "bench --plot": ("bench", "--timeout", str(LIMIT), "--plot", "{}/x.png"),
}


@pytest.mark.parametrize("args", NAMED.values(), ids=NAMED)
def test_unresponsive_file_argument_is_wrong_usage(hung, args):
    done = gpucheck(*(arg.format(hung) for arg in args))
    assert (done.returncode, done.stdout) == (2, "")
    assert "its file system did not respond" in done.stderr
    assert hung in done.stderr


@pytest.mark.parametrize("path", ["{}/x.py", "{}/x", "{}"])
def test_unresponsive_program_to_lint_is_reported_as_unreadable(hung, path):
    done = gpucheck("lint", "--timeout", str(LIMIT), path.format(hung))
    assert done.returncode == 2, done.stderr
    assert "unreadable: " in done.stdout


@pytest.mark.parametrize(("reports", "hanging"), [(12, 1), (12, 60), (420, 1)])  # from 400 reports on, several processes read
@pytest.mark.parametrize("named", ["folder", "files"])
def test_unresponsive_reports_are_named_and_the_others_are_merged(hung, tmp_path, reports, hanging, named):
    healthy = gpucheck(*CHECK, "--format", "json").stdout
    for number in range(reports):
        (tmp_path / f"n{number}.json").write_text(healthy.replace(f'"node": "{os.uname().nodename}"', f'"node": "n{number}"'))
    for number in range(hanging):
        (tmp_path / f"n{number}-hung.json").symlink_to(f"{hung}/x{number}")
    paths = [str(tmp_path)] if named == "folder" else sorted(map(str, tmp_path.iterdir()))
    done = gpucheck("fleet", "merge", *paths, "--format", "json", "--timeout", str(LIMIT * 2))
    fleet = json.loads(done.stdout)
    assert (len(fleet["nodes"]), len(fleet["unusual"])) == (reports + hanging, hanging), done.stderr
    assert {(one["kind"], one["why"]) for one in fleet["unusual"]} == {("unreadable", "did not respond")}


def test_log_is_explained_up_to_where_reading_timed_out(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b"ResourceExhaustedError: OOM when allocating tensor with shape[64,512] by allocator GPU_0_bfc\n")
    argv = [sys.executable, "-m", "gpucheck", "explain", "--timeout", str(LIMIT), "-"]
    done = subprocess.run(argv, stdin=reader, capture_output=True, text=True, timeout=LIMIT + SLACK)
    os.close(reader)
    os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "gpu-memory-exhausted" in done.stdout
    assert "nly the first 1 line of this log could be read: the time limit was reached (--timeout)" in " ".join(
        done.stdout.split()
    )


@pytest.mark.parametrize("variable", ["TMPDIR", "HOME", "CUDA_CACHE_PATH", "GITHUB_STEP_SUMMARY", "XDG_CACHE_HOME"])
def test_unresponsive_folder_in_the_environment_does_not_end_the_run(hung, variable):
    done = gpucheck(*CHECK, "--format", "github", **{variable: f"{hung}/x"})
    assert done.returncode in (0, 3), done.stderr
    assert done.stdout


def test_unresponsive_folder_in_path_gives_no_verdict(hung):
    path = f"{hung}/bin:{os.environ['PATH']}"
    done = gpucheck(*CHECK, PATH=path)
    assert done.returncode == 3, done.stderr
    assert done.stdout
    done = gpucheck("run", "--timeout", str(LIMIT), "--", "true", PATH=path)
    assert (done.returncode, done.stderr) == (126, "gpucheck: true: its file system did not respond\n")


def test_unresponsive_pythons_are_named_by_setup(hung):
    done = gpucheck("setup", "--timeout", str(LIMIT), PYENV_ROOT=hung)
    assert done.returncode == 0, done.stderr
    assert f"skipped, because its file system did not respond: {hung}" in " ".join(done.stdout.split())


def test_unresponsive_cache_is_ignored(hung):
    done = gpucheck("run", "--cache", "60", "--allow-cpu", "--timeout", "10", "--", "echo", "started", XDG_CACHE_HOME=f"{hung}/x")
    assert (done.returncode, done.stdout) == (0, "started\n"), done.stderr


def test_unread_standard_output_does_not_block_past_the_timeout(tmp_path):
    argv = [sys.executable, "-m", "gpucheck", *CHECK, "--format", "json"]
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    done = subprocess.run(argv, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=LIMIT + SLACK)
    os.close(reader)
    os.close(writer)
    assert done.returncode == 3
    assert (
        done.stderr == "gpucheck: ended at its time limit: a file system or driver did not respond, or the processors are busy\n"
    )
