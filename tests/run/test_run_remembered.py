"""``gpucheck run --cache`` as a user types it; test_pass_cache.py tests the cache itself."""

import os
import subprocess
import sys

import pytest

RUN = [sys.executable, "-m", "gpucheck", "run"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no exec")


def test_failed_check_is_never_cached(tmp_path):
    command = [*RUN, "--on-fail", "warn", "--cache", "600", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
    assert done.stderr.startswith("gpucheck: started anyway: no-nvidia-gpu: ")
    assert list(tmp_path.iterdir()) == []


def was_checked(tmp_path, *args, before=":", **env):
    """Whether a check ran, after a shell command ``before``: a fake program that every check starts leaves a file."""
    marker = tmp_path / "was_checked"
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
def test_pass_is_cached_only_with_the_option_and_for_the_same_request(tmp_path):
    cached = ["--cache", "600"]
    assert was_checked(tmp_path, *cached)
    assert not was_checked(tmp_path, *cached)
    assert was_checked(tmp_path)
    assert was_checked(tmp_path, *cached, "--strict")


@posix
@pytest.mark.tensorflow
def test_module_that_shadows_a_package_invalidates_the_cache(tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    command = [*RUN, "--allow-cpu", "--no-smoke", "--cache", "600", "--", "echo", "started"]
    env = {**os.environ, "PYTHONPATH": str(modules), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = [subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)]
    assert list(tmp_path.glob("cache/gpucheck/passed-*"))
    (modules / "numpy.py").write_text("raise ImportError('broken')\n")
    done.append(subprocess.run(command, capture_output=True, text=True, timeout=60, env=env))
    assert [(one.returncode, one.stdout) for one in done] == [(0, "started\n"), (1, "")], done
    assert f"{modules}/numpy.py shadows the installed module numpy" in done[1].stderr


@posix
def test_missing_cache_folder_is_not_an_error(tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert was_checked(tmp_path, "--cache", "600")
