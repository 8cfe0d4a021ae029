"""Apptainer's definition and Podman's unit: their commands exist in gpucheck, and their sections and keys are documented."""

import configparser
import re
import shlex
import shutil

import pytest
import yaml
from recipe_helpers import RECIPES, installed, program, run

from gpucheck.cli import cli

# Keys in use, from podman-systemd.unit(5); Quadlet refuses a unit with an unknown key.
KEYS = {"Image", "AddDevice", "SecurityLabelDisable", "PodmanArgs", "Exec", "HealthCmd", "HealthInterval", "HealthTimeout"}
QUADLET = next((path for path in ("/usr/libexec/podman/quadlet", "/usr/lib/podman/quadlet") if shutil.which(path)), None)


def sections():
    """The sections of the definition, by name."""
    text = (RECIPES / "apptainer/train.def").read_text()
    header, *parts = re.split(r"^%", text, flags=re.MULTILINE)
    return header, {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def unit():
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(RECIPES / "podman/train.container")
    return parser


def test_definition_has_only_sections_of_apptainer():
    header, parts = sections()
    assert re.search(r"^Bootstrap: docker\nFrom: \S+$", header, re.MULTILINE)
    assert set(parts) <= {"post", "environment", "runscript", "test", "files", "labels", "help"}


def test_image_checks_before_it_runs_the_command(tmp_path):
    _, parts = sections()
    script = program(tmp_path / "runscript", "#!/bin/sh\n" + parts["runscript"])
    folder = installed(tmp_path / "bin", body='echo "$@"')
    done = run([script, "python", "train.py", "--epochs=2 3"], {"PATH": f"{folder}:/usr/bin:/bin"})
    assert done.stdout == "run --quick -- python train.py --epochs=2 3\n"


def test_unit_requests_gpus_by_cdi_and_its_commands_exist():
    container = unit()["Container"]
    assert set(container) <= KEYS
    assert re.fullmatch(r"nvidia\.com/gpu=\w+", container["AddDevice"])  # a CDI name: vendor, class, device
    for line in (container["Exec"], container["HealthCmd"]):
        program_name, name, *arguments = shlex.split(line)
        assert program_name == "gpucheck"
        cli.get_command(None, name).make_context(name, arguments)


def test_container_is_not_restarted_after_a_failed_check():
    (service,) = yaml.safe_load((RECIPES / "docker/compose.yaml").read_text())["services"].values()
    assert (unit()["Service"]["Restart"], service["restart"]) == ("no", "no")


def test_unit_overrides_the_entrypoint_of_the_image():
    assert "--entrypoint=" in unit()["Container"]["PodmanArgs"].split()


@pytest.mark.skipif(QUADLET is None, reason="Quadlet is not installed: it comes with Podman 4.4")
def test_quadlet_generates_a_unit(tmp_path):
    shutil.copy(RECIPES / "podman/train.container", tmp_path)
    done = run([QUADLET, "-dryrun", "-user"], {"QUADLET_UNIT_DIRS": str(tmp_path)})
    assert (done.returncode, "--device=nvidia.com/gpu=all" in done.stdout.replace(" ", "=", 0)) == (0, True), done.stderr
