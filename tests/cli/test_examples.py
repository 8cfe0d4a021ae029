"""Every example that a command's help shows, typed as it stands: it is no wrong usage, and what it writes is there."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from command import gpucheck

from gpucheck.cli.group import Commands, cli

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = re.compile(r"^ {4}(\S.*?)(?: {2,}.*)?$", re.MULTILINE)
NOT_TYPED = {
    "gpucheck bench": "measures for minutes; tests/bench does",
    "--apply": "installs from the package index; tests/setup does",
    "--install": "writes into this environment; tests/repair does",
    "run --default": "trains; tests/launch does",
    "--default -- ./job.sh": "trains; tests/launch does",
    "ENTRYPOINT": "a Dockerfile's; tests/examples builds none",
    "| source": "fish's",
    "Invoke-Expression": "PowerShell's",
}
PROGRAMS = {"kubectl": "echo 'Out of memory'", "scontrol": "true", "python": f'exec {sys.executable} "$@"'}
NAMES = [name for name in Commands.modules if name != "completion"]  # test_usage.py types those


def examples(name):
    text = gpucheck(*([] if name == "gpucheck" else [name]), "--help").stdout.partition("Examples:")[2].partition("\nOptions:")[0]
    return [line for line in EXAMPLE.findall(text) if not any(words in line for words in NOT_TYPED)]


@pytest.fixture
def place(tmp_path):
    """A folder with what the examples name, and variables under which they look at the machine only."""
    for name, text in {**PROGRAMS, "gpucheck": f'exec {sys.executable} -m gpucheck "$@"'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "train.py").write_text("print('trained')\n")
    (tmp_path / "train.log").write_text("CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n")
    (tmp_path / "bad.json").write_text(gpucheck("--quick", "--allow-cpu", "--format", "json").stdout)
    (tmp_path / "expected.toml").write_text("[gpu]\ncount = 0\n")
    return tmp_path


@pytest.mark.parametrize("name", ["gpucheck", *NAMES])
def test_examples_of_help_work(place, name):
    env = {"GPUCHECK_LEVEL": "quick", "GPUCHECK_ALLOW_CPU": "true", "PYTHONPATH": str(ROOT)}
    for line in examples(name):
        line = line.replace(".venv/bin/python", sys.executable).replace("/etc/gpucheck/node.toml", "expected.toml")
        if re.search(r"[|>$]| -- ", line):
            path = f"{place}:{os.environ['PATH']}"
            argv = ["sh", "-c", line]
            env_of_shell = {**os.environ, **env, "PATH": path}
            done = subprocess.run(argv, cwd=place, env=env_of_shell, capture_output=True, text=True, timeout=120)
        else:
            done = gpucheck(*shlex.split(line)[1:], cwd=place, env=env)
        assert done.returncode in (0, 1), f"{line}: {done.stderr}"
        assert "Usage:" not in done.stderr, line


def test_help_names_every_command_once():
    text = gpucheck("--help").stdout
    assert [len(re.findall(rf"^  {name} ", text, re.MULTILINE)) for name in cli.list_commands(None)] == [1] * len(
        Commands.modules
    )
