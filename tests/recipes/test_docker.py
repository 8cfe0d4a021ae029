"""The image's entrypoint and health check, run with the Dockerfile's arguments; the files, read by third-party parsers."""

import io
import json
import re
import shlex
import shutil
import sys

import pytest
import yaml
from recipe_helpers import RECIPES, accepts, run, tool

DOCKERFILE = RECIPES / "docker/Dockerfile"
posix = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")


def instructions():
    """Name and value of each instruction, as Docker reads them."""
    dockerfile_parse = pytest.importorskip("dockerfile_parse", reason="dockerfile-parse is not installed")
    parser = dockerfile_parse.DockerfileParser(fileobj=io.BytesIO(DOCKERFILE.read_bytes()))
    return [(one["instruction"], one["value"]) for one in parser.structure if one["instruction"] != "COMMENT"]


def only(name):
    (value,) = [value for instruction, value in instructions() if instruction == name]
    return value


def health_check():
    flags, _, command = only("HEALTHCHECK").partition(" CMD ")
    argv = json.loads(command)
    assert argv.pop(0) == "gpucheck"
    return dict(flag.removeprefix("--").split("=") for flag in flags.split()), argv


def test_entrypoint_and_command_use_the_exec_form():
    assert json.loads(only("ENTRYPOINT")) == ["gpucheck", "run", "--quick", "--"]
    assert json.loads(only("CMD")) == ["python", "train.py"]


@posix
def test_entrypoint_runs_the_command_with_its_exit_code():
    _, *argv = json.loads(only("ENTRYPOINT"))
    done = run([sys.executable, "-m", "gpucheck", *argv, "sh", "-c", "exit 7"], {"GPUCHECK_ALLOW_CPU": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_timeout_of_the_health_check_is_shorter_than_that_of_docker():
    flags, argv = health_check()
    assert float(argv[argv.index("--timeout") + 1]) < float(flags["timeout"].removesuffix("s"))
    assert argv[0] == "node"
    assert argv[argv.index("--exit-style") + 1] == "docker"


@posix
def test_health_check_ignores_variables_and_accepts_a_number_of_gpus():
    """As the comments of the Dockerfile state."""
    argv = [sys.executable, "-m", "gpucheck", *health_check()[1]]
    alone = run(argv)
    assert run(argv, {"GPUCHECK_ALLOW_CPU": "1"}).returncode == alone.returncode
    if "no-nvidia-gpu" in alone.stdout or "container-without-gpu" in alone.stdout:
        done = run([*argv, "--gres", "0"])
        assert (done.returncode, done.stdout[:5]) == (0, "PASS:")


@posix
def test_health_check_prints_one_line_and_exits_with_0_or_1():
    _, argv = health_check()
    done = run([sys.executable, "-m", "gpucheck", *argv])
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (int(not done.stdout.startswith("PASS")), 1, "")


def test_compose_file_is_valid():
    path = RECIPES / "docker/compose.yaml"
    (service,) = yaml.safe_load(path.read_text())["services"].values()
    assert (path.parent / service["build"]["context"] / "Dockerfile").resolve() == DOCKERFILE
    assert "entrypoint" not in service  # the image's
    assert shlex.join(service["command"]) == "python train.py"
    accepts("check-jsonschema", "--builtin-schema", "vendor.compose-spec", path)


def test_compose_starts_the_image_with_all_gpus_and_the_folder_mounted(tmp_path):
    tool("podman")
    for name in ("compose.yaml", "Dockerfile"):
        shutil.copy(RECIPES / "docker" / name, tmp_path)
    done = run([tool("podman-compose"), "--verbose", "--dry-run", "up"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"podman build -f {tmp_path}/Dockerfile " in done.stderr
    (create,) = re.findall(r"podman create .+", done.stderr)
    for option in ("--device nvidia.com/gpu=all", f"-v {tmp_path}:/workspace", "--shm-size 1gb", "--init", "--restart no"):
        assert f" {option} " in create
    assert create.endswith(" python train.py")
