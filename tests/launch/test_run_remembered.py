"""``gpucheck run --cache`` as a user types it; what is remembered and believed is shown by test_pass_cache.py."""

import os
import subprocess
import sys

import pytest

RUN = [sys.executable, "-m", "gpucheck", "run"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no exec")


def test_a_failing_check_is_never_remembered(tmp_path):
    command = [*RUN, "--on-fail", "warn", "--cache", "600", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert done.stderr.startswith("gpucheck: started anyway: no-nvidia-gpu: ")
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
        env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return marker.exists()


@posix
def test_a_pass_is_remembered_only_with_the_option_and_for_the_same_question(tmp_path):
    cached = ["--cache", "600"]
    assert looked(tmp_path, *cached)
    assert not looked(tmp_path, *cached)
    assert looked(tmp_path)
    assert looked(tmp_path, *cached, "--strict")


@posix
@pytest.mark.tensorflow
def test_a_module_that_hides_a_package_of_a_remembered_pass_is_seen(tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    command = [*RUN, "--allow-cpu", "--no-smoke", "--cache", "600", "--", "echo", "started"]
    env = {**os.environ, "PYTHONPATH": str(modules), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = [subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)]
    assert list(tmp_path.glob("cache/gpucheck/passed-*"))
    (modules / "numpy.py").write_text("raise ImportError('broken')\n")
    done.append(subprocess.run(command, capture_output=True, text=True, timeout=60, env=env))
    assert [(one.returncode, one.stdout) for one in done] == [(0, "started\n"), (1, "")], done
    assert f"{modules}/numpy.py hides the installed module numpy" in done[1].stderr


@posix
def test_no_place_to_remember_is_no_fault(tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert looked(tmp_path, "--cache", "600")
