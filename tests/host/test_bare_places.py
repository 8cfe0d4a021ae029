"""Unusual environments: a root without /dev, a read-only root, a removed current folder."""

import json
import os
import subprocess
import sys

import pytest
from lab import machines


@pytest.fixture
def mounts(tmp_path):
    """Skip unless file systems can be mounted in a separate namespace."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("needs root to mount file systems")
    if problem := machines.refusal(tmp_path):
        pytest.skip(problem)


def gpucheck(before, *args):
    """Run the command after a line of shell, in a separate mount namespace."""
    argv = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", f'{before}; exec "$@"', "sh", sys.executable, "-m", "gpucheck", *args]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60)


def codes(before):
    done = gpucheck(before, "--quick", "--allow-cpu", "--format", "json")
    assert done.stderr == ""
    return [finding["code"] for finding in json.loads(done.stdout)["findings"] if finding["severity"] == "error"]


def test_driver_is_not_called_unresponsive_without_dev_null(mounts):
    assert codes("mount -t tmpfs none /dev") == codes(":")


def test_missing_temporary_folder_on_a_read_only_root_is_reported(mounts):
    only = "for path in / /tmp /var /usr $PWD; do mount --bind $path $path; mount -o remount,bind,ro $path; done"
    assert codes(f"unset TMPDIR TEMP TMP; {only}; cd /") == ["temporary-folder-missing", *codes(":")]
    assert codes(f"{only}; mount -t tmpfs none /var/tmp; cd /") == codes(":")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no folder in use")
@pytest.mark.parametrize(
    ("args", "code"), [(("lint", "train.py"), 2), (("--quick", "--allow-cpu"), 0), (("explain", "driver-missing"), 0)]
)
def test_removed_current_folder_causes_no_traceback(tmp_path, args, code):
    line = 'rmdir "$PWD"; exec "$@"'
    folder = tmp_path / "gone"
    folder.mkdir()
    argv = ["/bin/sh", "-c", line, "sh", sys.executable, "-m", "gpucheck", *args]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path))}
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
