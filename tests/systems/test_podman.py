"""The Podman recipe in real Podman: CDI passes the driver and the devices, and gpucheck in the container names their fault.

The container uses this machine's files through a bind mount, so that no image is downloaded. Mounts are in a separate namespace,
which also hides version 2 of cgroups next to version 1, because crun refuses it.
"""

import configparser
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml
from lab import fake_driver
from recipe_helpers import RECIPES

import gpucheck

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
SETUP = """set -e
umount /sys/fs/cgroup/unified 2>/dev/null || true
mount -t tmpfs none /run
mount --bind / "$1/rootfs"
mount -t tmpfs none "$1/rootfs/run"  # where Podman writes a file that marks a container
mkdir /run/cdi
cp "$1/nvidia.yaml" /run/cdi/
shift
exec "$@"
"""
PODMAN = ("--storage-driver", "vfs", "--cgroup-manager", "cgroupfs")
# Limits that a container engine inside a container can't raise or change.
LIMITS = (
    "--ulimit",
    "nofile=1024:1024",
    "--ulimit",
    "nproc=1024:1024",
    "--cgroups",
    "disabled",
    "--security-opt",
    "seccomp=unconfined",
)


@pytest.fixture
def container(tmp_path):
    """Run a command in a container with the recipe's devices."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs root on Linux: mounts, and a container of a folder")
    missing = [name for name in ("podman", "crun", "unshare") if shutil.which(name) is None]
    if missing or fake_driver.COMPILER is None:
        pytest.skip(f"not installed: {', '.join(missing) or 'a C compiler'} (tests/systems/install.sh)")
    (tmp_path / "rootfs").mkdir()
    driver = fake_driver.build(tmp_path / "driver")
    unit = configparser.ConfigParser(interpolation=None)
    unit.read(RECIPES / "podman/train.container")
    recipe = ["--device", unit["Container"]["AddDevice"], *unit["Container"]["PodmanArgs"].split()]

    def run(*command, **scenario):
        file = fake_driver.write_scenario(tmp_path / "scenario", {"gpus": 2, **scenario})
        env = {"LD_LIBRARY_PATH": driver, "FAKE_DRIVER": file, "PYTHONPATH": pathlib.Path(gpucheck.__file__).parents[1]}
        nodes = [{"path": f"/dev/{name}", "hostPath": "/dev/null", "type": "c", "major": 1, "minor": 3}
                 for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm")]  # fmt: skip
        edits = {"env": [f"{key}={value}" for key, value in env.items()], "deviceNodes": nodes}
        specification = {"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [{"name": "all", "containerEdits": edits}]}
        (tmp_path / "nvidia.yaml").write_text(yaml.safe_dump(specification))
        podman = [
            "podman",
            "--root",
            tmp_path / "store",
            "--runroot",
            "/run/podman",
            *PODMAN,
            "run",
            "--rm",
            "--network",
            "none",
        ]
        argv = ["unshare", "-m", "sh", "-c", SETUP, "sh", tmp_path, *podman, *LIMITS, *recipe]
        argv += ["--rootfs", tmp_path / "rootfs", *command]
        done = subprocess.run([str(one) for one in argv], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        if "crun" in done.stderr and "permitted" in done.stderr:
            pytest.skip(f"Podman can't start a container here: {done.stderr.strip()[-200:]}")
        return done

    run.health = shlex.split(unit["Container"]["HealthCmd"])
    return run


def test_health_command_distinguishes_a_healthy_gpu_from_a_lost_one(container):
    program, *arguments = container.health
    assert program == "gpucheck"
    command = [sys.executable, "-m", "gpucheck", *arguments]
    healthy = container(*command)
    assert healthy.returncode == 0, healthy.stdout + healthy.stderr
    lost = container(*command, **{"gpu.1.lost": 1})
    assert (lost.returncode, "gpu-lost" in lost.stdout) == (1, True), lost.stdout + lost.stderr
