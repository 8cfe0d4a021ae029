"""``gpucheck run --cache``: when a pass that is remembered takes the place of a check, and when it is not believed."""

import os
import subprocess
import sys
import time

import pytest

RUN = [sys.executable, "-m", "gpucheck", "run"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no exec")


def test_a_failing_check_is_never_remembered(tmp_path):
    command = [*RUN, "--on-fail", "warn", "--cache", "600", "--", "true"]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
        assert done.stderr.startswith("gpucheck: started all the same: no-nvidia-gpu: ")
    assert list(tmp_path.iterdir()) == []


def looked(tmp_path, *args, before=":", **env):
    """Whether a check was made, after a line of shell: the fake program that a check asks leaves a mark."""
    marker = tmp_path / "looked"
    marker.unlink(missing_ok=True)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir(exist_ok=True)
    smi = bin_folder / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\n: > '{marker}'\n")
    smi.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", f'{before}; exec "$@"', "sh", *RUN, "--quick", "--allow-cpu", *args, "--", "true"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache"), **env},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return marker.exists()


@posix
def test_a_pass_is_remembered_for_the_time_and_under_the_same_circumstances(tmp_path):
    cached = ["--cache", "600"]
    assert looked(tmp_path, *cached)
    assert not looked(tmp_path, *cached)
    assert looked(tmp_path)  # without the option
    assert looked(tmp_path, *cached, CUDA_CACHE_MAXSIZE="1")  # another environment
    assert not looked(tmp_path, *cached, UNRELATED="1")
    assert looked(tmp_path, *cached, "--strict")  # another question
    assert not looked(tmp_path, *cached)
    time.sleep(0.2)
    assert looked(tmp_path, "--cache", "0.1")


@posix
def test_a_remembered_pass_of_others_or_a_broken_one_is_not_believed(tmp_path):
    cached = ["--cache", "600"]
    assert looked(tmp_path, *cached)
    (file,) = (tmp_path / "cache/gpucheck").iterdir()
    good = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(good[:-3])
    assert looked(tmp_path, *cached)
    assert not looked(tmp_path, *cached)
    file.chmod(0o666)
    assert looked(tmp_path, *cached)
    assert file.stat().st_mode & 0o777 == 0o600
    file.parent.chmod(0o777)
    assert looked(tmp_path, *cached)


@posix
def test_no_place_to_remember_is_no_fault(tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert looked(tmp_path, "--cache", "600")
    assert looked(tmp_path, "--cache", "600")


@posix
@pytest.mark.parametrize("limit", ["-n 200", "-v 8000000", "-f 4000000", "-t 5000"])
def test_a_pass_is_not_remembered_under_another_limit(tmp_path, limit):
    assert looked(tmp_path, "--cache", "600")
    assert not looked(tmp_path, "--cache", "600")
    assert looked(tmp_path, "--cache", "600", before=f"ulimit {limit}")
