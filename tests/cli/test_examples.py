"""Examples in the help of every command, and commands in README and docs: none is wrong usage."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from command import gpucheck

from gpucheck.cli.group import cli, sections

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = re.compile(r"^ {4}(\S.*?)(?: {2,}.*)?$", re.MULTILINE)
NOT_RUN = {
    "gpucheck bench": "measures for minutes; tests/bench does",
    "--apply": "installs from the package index; tests/setup does",
    "lint --watch": "runs until Ctrl-C; tests/lint does",
    "--install": "writes into this environment; tests/repairs does",
    "run --default": "trains; tests/run does",
    "--default -- ./job.sh": "trains; tests/run does",
    "ENTRYPOINT": "a Dockerfile's; tests/recipes builds none",
    "| source": "fish's",
    "Invoke-Expression": "PowerShell's",
}
NOT_RUN_IN_DOCS = {
    "[--": "a form: the help of the command has examples",
    "gpucheck --full": "measures for minutes; tests/experiments does",
    "gpucheck bench": "measures for minutes; tests/bench does",
    "gpucheck run": "trains; tests/run does",
    "gpucheck setup --apply": "installs from the package index; tests/setup does",
    "gpucheck fleet\n": "a command's name",
    "gpucheck fleet merge\n": "a command's name",
    "gpucheck explain\n": "a command's name",
    "gpucheck compare\n": "a command's name",
    "fleet train": "needs Slurm; tests/systems does",
    "fleet run": "needs Slurm; tests/systems does",
    "srun ": "needs Slurm; tests/systems does",
    "docker run": "needs a daemon; tests/recipes reads the recipes",
    "/opt/gpucheck": "writes outside the folder; tests/cli/test_integrity.py damages an installation",
    "git clone": "nothing is published yet",
    "pip ": "installs; tools/install_ways.py does",
    "uvx ": "installs; tools/install_ways.py does",
    "gpucheck gpu-lost:": "a line that is printed",
    "gpucheck --backend torch": "names an environment of the reader",
    "gpucheck --report html=": "needs the extra html; tests/cli/test_formats.py does",
    "h1.log": "a measurement; tools/slow_patterns.py has it",
    "termination=/dev/": "writes outside the folder; tests/recipes/test_kubernetes.py does",
}
FORMS = {
    "explain FILE": "explain train.log",
    '"MESSAGE"': '"CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"',
    "snapshot --node FILE": "snapshot --node new.toml",
    "snapshot expected.toml": "snapshot good.toml",
    "CODE": "no-nvidia-gpu",
    "recipe NAME": "recipe slurm/prolog.sh",
    "POD": "trainer-0",
    "BASELINE [CURRENT]": "before.json",
    ".venv/bin/gpucheck": "gpucheck",
}
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "gpucheck/recipes/README.md",
    *sorted(
        path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md") if path.name not in ("commands.md", "tutorial.md")
    ),
]  # test_examples_of_help_work and test_tutorial.py cover these
PROGRAMS = {
    "kubectl": "echo 'Out of memory'",
    "scontrol": "true",
    "ssh": "echo 'Driver Version: 570.86.10'",
    "python": f'exec {sys.executable} "$@"',
}
NAMES = [name for part in sections().values() for name in part if name != "completion"]  # test_usage.py runs that one


def examples(name):
    text = gpucheck(*([] if name == "gpucheck" else [name]), "--help").stdout.partition("Examples:")[2].partition("\nOptions:")[0]
    return [line for line in EXAMPLE.findall(text) if not any(words in line for words in NOT_RUN)]


@pytest.fixture
def place(tmp_path):
    """Prepare a folder with the files of the examples, and variables that limit them to quick checks."""
    for name, text in {**PROGRAMS, "gpucheck": f'exec {sys.executable} -m gpucheck "$@"'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "train.py").write_text("print('trained')\n")
    (tmp_path / "train.log").write_text("CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n")
    (tmp_path / "bad.json").write_text(gpucheck("--quick", "--allow-cpu", "--format", "json").stdout)
    for name in ("fit.json", "fit1.json", "fit2.json"):
        (tmp_path / name).write_text('{"seconds": 1, "epochs": 1, "steps": 1}')
    (tmp_path / "expected.toml").write_text("[gpu]\ncount = 0\n[fit]\nmin_samples_per_second = 1\n")
    return tmp_path


def run_example(line, place):
    """Run a line in that folder, with a shell if it needs one."""
    line = line.replace(".venv/bin/python", sys.executable)
    line = line.replace("/etc/gpucheck/node.toml", "expected.toml").replace("> /etc/slurm/", "> ")
    env = {"GPUCHECK_LEVEL": "quick", "GPUCHECK_ALLOW_CPU": "true", "PYTHONPATH": str(ROOT)}
    if re.search(r"[|>$]| -- ", line):
        path = f"{place}:{os.environ['PATH']}"
        argv = ["sh", "-c", line]
        env_of_shell = {**os.environ, **env, "PATH": path}
        done = subprocess.run(argv, cwd=place, env=env_of_shell, capture_output=True, text=True, timeout=120)
    else:
        done = gpucheck(*shlex.split(line)[1:], cwd=place, env=env)
    assert done.returncode in (0, 1), f"{line}: {done.stderr}"
    assert "Usage:" not in done.stderr, line


@pytest.mark.parametrize("name", ["gpucheck", *NAMES])
def test_examples_of_help_work(place, name):
    for line in examples(name):
        run_example(line, place)


def commands_of_docs():
    """Return the commands in the docs, each once: lines of shell blocks, and calls of gpucheck in sentences or indented text."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        blocks, rest = re.findall(r"```sh\n(.*?)```", text, re.DOTALL), re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        loose = re.findall(r"^ {4,}(\S.*)$", rest, re.MULTILINE) + re.findall(r"`([^`\n]+)`", rest)
        found += [*"".join(blocks).splitlines(), *(line for line in loose if re.search(r"(?:^|[ (/])gpucheck(?: |$)", line))]
    return list(dict.fromkeys(re.sub(r"\s{2,}.*", "", line).strip() for line in found if line.strip()))


@pytest.mark.slow
@pytest.mark.tensorflow
def test_commands_of_docs_work(place):
    (place / "good.json").write_text(gpucheck("node", "--format", "json").stdout)
    for name in ("before.json", "report.json", "reports/a.json"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text((place / "bad.json").read_text())
    commands = commands_of_docs()
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = set()
    for line in commands:
        if reasons := {words for words in NOT_RUN_IN_DOCS if words in f"{line}\n"}:
            used |= reasons
        elif line.startswith("make "):
            assert set(line.split()[1:]) <= targets, line
        else:
            for form, example in FORMS.items():
                line = line.replace(form, example)
            run_example(line, place)
    assert used == NOT_RUN_IN_DOCS.keys(), "a reason for nothing"


def test_help_names_every_command_once():
    text = gpucheck("--help").stdout
    assert [len(re.findall(rf"^  {name} ", text, re.MULTILINE)) for name in cli.list_commands(None)] == [1] * len(
        [name for part in sections().values() for name in part]
    )
