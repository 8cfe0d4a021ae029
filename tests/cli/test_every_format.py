"""Every command renders every format that it offers, for each recorded machine, for nodes, and for this machine."""

import json
import re
import sys

import click
import pytest
from command import gpucheck
from fakes import MACHINES
from lab import fake_driver
from one_rule import changed

from gpucheck.cli.formats import FORMATS
from gpucheck.cli.group import cli
from gpucheck.cli.screen import without_commands
from gpucheck.commands.fleet.options import FORMATS as FLEET_FORMATS
from gpucheck.commands.setup import render
from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.engine.discovery import load_probes
from gpucheck.core.model import Level
from gpucheck.core.solver.machine import Gpu, Machine, Python, Requirements

NAMES = sorted(path.stem for path in MACHINES.glob("*.json"))
OF_NODE = {"request", *(probe.name for probe in load_probes() if probe.level is Level.NODE)}
OF_REPORTS = {
    "check": ["--replay", "report.json"],
    "compare": ["baseline.json", "report.json"],
    "fleet merge": ["report.json", "baseline.json"],
}
OTHERS = {
    "config": [],
    "explain": ["driver-missing"],
    "lint": ["train.py"],
    "node": ["--timeout", "5"],
    "rules": [],
    "setup": ["--for", "535.183,8.6,3.12"],
}
TRAINING = {"bench", "fleet run", "fleet train"}  # these train first; the last two use the rendering of `fleet merge`


def formats(command):
    """Return the formats that a command offers."""
    return next((list(option.type.choices) for option in command.params if "--format" in option.opts), [])


def commands(group, prefix=""):
    """Yield every command with its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} ")
        else:
            yield prefix + name, command


OFFERED = {name: formats(command) for name, command in commands(cli) if formats(command)}


def report(name, node, changes=None, summary="The driver is missing."):
    """Return the report of a recorded machine, also as a node with a finding for `fleet merge`."""
    facts = changed(changes, name=name)
    if node:
        facts = {probe: fact for probe, fact in facts.items() if probe in OF_NODE}
        facts["request"] |= {"level": Level.NODE, "smoke": False}
    probes = [{"name": probe, "status": "ok", "seconds": 0.25, "problem": None} for probe in facts if probe != "request"]
    finding = {"code": "driver-missing", "severity": "error", "scope": "host", "summary": summary}
    made = {"schema_version": "1.0", "tool": {"name": "gpucheck", "version": "0"}, "started_at": "2026-01-02T03:04:05Z"}
    judged = {"verdict": "fail", "exit_code": 1, "findings": [finding]}
    return json.dumps({**made, "seconds": 6.5, "facts": facts, "probes": probes, **judged})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "baseline.json").write_text(report("h200", node=False))
    (tmp_path / "train.py").write_text("import tensorflow as tf\ntf.keras.Sequential().fit_generator(None)\n")
    return tmp_path


def rendered(folder, command, arguments, style):
    done = gpucheck(*command.split(), *arguments, "--format", style, cwd=folder)
    assert done.returncode != 2, done.stderr
    assert "this is a bug in gpucheck" not in done.stderr
    return done


def test_every_command_that_offers_formats_is_tested_here():
    assert set(OFFERED) == {*OF_REPORTS, *OTHERS, *TRAINING}
    assert (OFFERED["check"], OFFERED["node"], OFFERED["fleet merge"]) == (list(FORMATS), list(FORMATS), list(FLEET_FORMATS))


@pytest.mark.parametrize("node", [False, True], ids=["machine", "node"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", OF_REPORTS)
def test_report_in_every_format(folder, command, name, node):
    (folder / "report.json").write_text(report(name, node))
    for style in OFFERED[command]:
        rendered(folder, command, OF_REPORTS[command], style)


@pytest.mark.parametrize("command", OTHERS)
def test_commands_without_a_report_in_every_format(folder, command):
    for style in OFFERED[command]:
        rendered(folder, command, OTHERS[command], style)


def test_brief_of_a_node_does_not_mention_environments(folder):
    (folder / "report.json").write_text(report("h200", node=True))
    lines = rendered(folder, "check", ["--replay", "report.json"], "brief").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["gpucheck", "OS", "CUDA", "GPU", "variables"]


COMMANDS = "x ::add-mask::e\n \u2003::add-mask::e\r::add-mask::e ##vso[task.complete]e ##[add-mask]e"
HOSTILE = f"H200\x1b[31m\x07\x9b\u202e {COMMANDS}\nRUN touch /x/pwned\n#"
LOG = f"E CUDA_ERROR_OUT_OF_MEMORY: out of memory {'a' * 40} {HOSTILE}"


def commands_in(text, style):
    """Return the control sequences and workflow commands in a text that a terminal or CI runner would execute."""
    text = text.replace("\r\n", "\n")  # CSV's line ends
    found = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", text)
    starts = [line.strip() for line in text.splitlines() if line.strip().startswith("::")]
    if style == "github":  # each line is one command followed by its message
        return found + [start for start in starts if not re.match("::(?:error|warning|notice) ", start)]
    return found + starts + re.findall(r"##(?:vso)?\[", text)


@pytest.mark.parametrize("node", [False, True], ids=["machine", "node"])
@pytest.mark.parametrize("command", OF_REPORTS)
def test_values_of_a_report_are_escaped(folder, command, node):
    values = ("gpus.gpus[0].name", "driver.version", "driver.cuda_version", "system.os_name", "system.kernel", "system.node")
    (folder / "report.json").write_text(report("h200", node, dict.fromkeys(values, HOSTILE), HOSTILE))
    for style in OFFERED[command]:
        done = rendered(folder, command, OF_REPORTS[command], style)
        assert "foreign" not in done.stdout
        assert (style, commands_in(done.stdout, style), commands_in(done.stderr, "")) == (style, [], [])


def test_log_lines_and_file_names_are_escaped(folder):
    (folder / "w.log").write_text(LOG)
    name = folder / "::add-mask::e\x1b" / "a\n::add-mask::b ##[c].py"
    name.parent.mkdir()
    name.write_text("import tensorflow as tf\ntf.keras.Sequential().fit_generator(None)\n")
    for command, argument in (("explain", "w.log"), ("lint", ".")):
        for style in OFFERED[command]:
            done = rendered(folder, command, [argument], style)
            assert (style, commands_in(done.stdout, style), commands_in(done.stderr, "")) == (style, [], [])


def test_variables_are_escaped(folder):
    done = gpucheck("--quick", env={"KERAS_BACKEND": f"::add-mask::e {COMMANDS}"}, cwd=folder)
    assert "add-mask" in done.stdout
    assert (commands_in(done.stdout, ""), commands_in(done.stderr, "")) == ([], [])


@pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
def test_gpu_names_from_the_driver_are_escaped(folder, driver_folder):
    hostile = "H200\x1b[31m\x9b\u202e\n::add-mask::e ##[c]\nRUN touch /x/pwned\n#"  # NVML limits names to 96 bytes
    name = "".join(chr(byte) if 32 <= byte <= 126 else f"\\x{byte:02x}" for byte in hostile.encode())
    scenario = fake_driver.write_scenario(folder / "scenario.txt", {"gpus": 1, "gpu.0.name": name})
    env = {**fake_driver.environment(driver_folder, scenario), "HOME": str(folder), "PYENV_ROOT": ""}
    for style in OFFERED["setup"]:
        done = gpucheck("setup", "--format", style, env=env, cwd=folder)
        assert (done.returncode, "RUN touch" in done.stdout) == (0, True), done.stderr
        assert (style, commands_in(done.stdout, style), commands_in(done.stderr, "")) == (style, [], [])
        assert "\nRUN touch" not in done.stdout


@pytest.mark.parametrize("style", OFFERED["setup"])
def test_gpu_names_are_escaped(style):
    gpus = (Gpu(name=HOSTILE, capability=(8, 6)),)
    machine = Machine(driver="580.65.06", gpus=gpus, os_name=HOSTILE, pythons=(Python(version="3.12"),))
    answer = solve(machine, Requirements())
    text = without_commands(render.render(answer, style, 80))
    assert commands_in(text, style) == []
    assert "\nRUN touch" not in text
