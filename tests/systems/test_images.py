"""The Dockerfiles that gpucheck prints, built as printed and started by Podman.

The base image has this machine's Debian and Python under the name that the Dockerfile uses, so no image registry is needed; pip
needs the package index. tensorflow-cpu replaces 3 GB of CUDA libraries where the recipe has an argument for it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
from command import gpucheck
from systems.test_podman import LIMITS

ROOT = pathlib.Path("/var/cache/gpucheck-systems/root")  # created by tests/systems/install.sh
CHECKOUT = pathlib.Path(__file__).parents[2]
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
# crun refuses version 2 of cgroups next to version 1; this hides it in a separate namespace.
SETUP = 'umount /sys/fs/cgroup/unified 2>/dev/null || true; exec "$@"'
SHARED = [f"--volume={path}:{path}:ro" for path in ("/etc/pip.conf", "/etc/ssl/certs") if os.path.exists(path)]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux"),
    pytest.mark.skipif(
        not ROOT.is_dir() or not all(map(shutil.which, ("podman", "crun"))), reason="not installed (tests/systems/install.sh)"
    ),
]


class Podman:
    """Podman with a separate store."""

    def __init__(self, folder, short_folder):
        # Podman refuses a --runroot of more than 50 characters.
        self._argv = ["podman", "--root", folder / "store", "--runroot", short_folder, "--cgroup-manager", "cgroupfs"]
        self._base = folder / "base.tar"

    def __call__(self, *arguments, cwd=None):
        argv = ["unshare", "-m", "sh", "-c", SETUP, "sh", *self._argv, *arguments]
        return subprocess.run(
            list(map(str, argv)), capture_output=True, text=True, timeout=900, cwd=cwd, stdin=subprocess.DEVNULL
        )

    def build(self, folder, name, *options):
        """Build the Dockerfile of a folder as its comment describes, on a base image with the name in FROM."""
        (base,) = re.findall(r"^FROM (\S+)$", (folder / "Dockerfile").read_text(), re.MULTILINE)
        made = self("import", "--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin", self._base, f"docker.io/library/{base}")
        assert made.returncode == 0, made.stderr
        done = self("build", "--isolation", "chroot", *SHARED, *options, "-t", name, ".", cwd=folder)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]

    def run(self, *arguments):
        done = self("run", "--rm", "--network", "none", *LIMITS, *arguments)
        if "crun" in done.stderr and "permitted" in done.stderr:
            pytest.skip(f"Podman can't start a container here: {done.stderr.strip()[-200:]}")
        return done


@pytest.fixture(scope="module")
def podman(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    root, prefix = folder / "root", pathlib.Path(sys.base_prefix)
    subprocess.run(["cp", "-a", ROOT, root], check=True)
    local = root / "usr/local"
    shutil.copy2(prefix / "bin" / PYTHON, local / "bin")
    (local / "bin/python").symlink_to(PYTHON)
    unused = shutil.ignore_patterns("test", "site-packages", "__pycache__", "config-*")
    shutil.copytree(prefix / "lib" / PYTHON, local / "lib" / PYTHON, ignore=unused, symlinks=True, dirs_exist_ok=True)
    for library in prefix.glob("lib/libpython3*.so*"):
        shutil.copy2(library, local / "lib", follow_symlinks=False)
    subprocess.run(["ldconfig", "-r", root], check=True)
    subprocess.run(["chroot", root, "/usr/local/bin/python", "-m", "ensurepip", "--default-pip"], check=True, capture_output=True)
    subprocess.run(["tar", "-C", root, "-cf", folder / "base.tar", "."], check=True)
    shutil.rmtree(root)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as short_folder:
        made = Podman(folder, short_folder)
        yield made
        made("system", "reset", "--force")
    shutil.rmtree(folder, ignore_errors=True)


def printed(folder, *arguments):
    (folder / "Dockerfile").write_text(gpucheck(*arguments).stdout)
    return folder


def test_docker_recipe_refuses_without_a_gpu_and_runs_the_command(podman, tmp_path):
    folder = printed(tmp_path, "recipe", "docker/Dockerfile")
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, CHECKOUT]  # as its comment says
    subprocess.run(wheel, check=True, capture_output=True)
    podman.build(folder, "train", "--build-arg", "TENSORFLOW=tensorflow-cpu==2.20.*")
    (folder / "train.py").write_text("import sys, tensorflow; print(tensorflow.__version__); sys.exit(7)\n")
    refused = podman.run(f"--volume={folder}:/workspace", "train")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "gpucheck: not started: container-without-gpu: " in refused.stderr
    started = podman.run(f"--volume={folder}:/workspace", "--env=GPUCHECK_ALLOW_CPU=1", "train")
    assert (started.returncode, started.stdout[:5]) == (7, "2.20."), started.stderr
    health = podman.run("--entrypoint=gpucheck", "train", "node", "--timeout", "20", "--exit-style", "docker", "--format", "npd")
    assert (health.returncode, health.stdout.count("\n")) == (1, 1), health.stderr
    assert "container-without-gpu" in health.stdout


def test_dockerfile_of_setup_runs_keras(podman, tmp_path):
    podman.build(printed(tmp_path, "setup", "--cpu", "--format", "dockerfile"), "keras")
    program = "import keras, numpy; keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]).predict(numpy.ones((1, 1)))"
    done = podman.run("keras", "python", "-c", program)
    assert done.returncode == 0, done.stderr
