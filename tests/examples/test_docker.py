"""The image's entrypoint and health check, run with the arguments that the Dockerfile gives them; files by foreign parsers."""

import io
import json
import shlex
import sys

import pytest
import yaml
from recipes import ECC, EXAMPLES, HELD, accepts, installed, run

DOCKERFILE = EXAMPLES / "docker/Dockerfile"
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


def test_entrypoint_and_command_are_in_the_exec_form():
    assert json.loads(only("ENTRYPOINT")) == ["gpucheck", "run", "--quick", "--"]
    assert json.loads(only("CMD")) == ["python", "train.py"]


@posix
def test_the_entrypoint_becomes_the_command_or_stops():
    _, *argv = json.loads(only("ENTRYPOINT"))
    done = run([sys.executable, "-m", "gpucheck", *argv, "sh", "-c", "exit 7"], {"GPUCHECK_ALLOW_CPU": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_the_health_check_ends_before_docker_ends_it():
    flags, argv = health_check()
    assert float(argv[argv.index("--timeout") + 1]) < float(flags["timeout"].removesuffix("s"))
    assert "--quick" in argv
    assert argv[argv.index("--exit-style") + 1] == "docker"
    assert argv[argv.index("--expect") + 1] == "/etc/gpucheck/beside-a-job.toml"
    assert "beside-a-job.toml /etc/gpucheck/" in [value for name, value in instructions() if name == "COPY"]


@posix
@pytest.mark.parametrize(("changes", "code", "words"), [(None, 0, "PASS"), (HELD, 0, "PASS"), (ECC, 1, "FAIL ecc-errors: ")])
def test_a_job_that_holds_the_gpu_is_healthy_and_a_broken_gpu_is_not(tmp_path, changes, code, words):
    _, argv = health_check()
    argv[argv.index("--expect") + 1] = EXAMPLES / "beside-a-job.toml"
    done = run([installed(tmp_path / "bin", changes) / "gpucheck", *argv])
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith(words)
    assert done.stdout.count("\n") == 1


@posix
def test_without_the_mute_the_job_would_be_the_fault(tmp_path):
    """What beside-a-job.toml is there for."""
    _, argv = health_check()
    place = argv.index("--expect")
    del argv[place : place + 2]
    assert run([installed(tmp_path / "bin", HELD) / "gpucheck", *argv]).returncode == 1


def test_compose_is_what_its_schema_allows():
    path = EXAMPLES / "docker/compose.yaml"
    (service,) = yaml.safe_load(path.read_text())["services"].values()
    assert (path.parent / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == DOCKERFILE
    assert "entrypoint" not in service  # the image's
    assert shlex.join(service["command"]) == "python train.py"
    accepts("check-jsonschema", "--builtin-schema", "vendor.compose-spec", path)
