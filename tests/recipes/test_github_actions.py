"""The workflow, against the schema of GitHub's workflows; its gpucheck commands, parsed by gpucheck."""

import shlex

import yaml
from recipe_helpers import RECIPES, accepts

from gpucheck.cli import cli

WORKFLOW = RECIPES / "github-actions/gpucheck.yml"


def commands():
    """The arguments of each gpucheck command in the workflow."""
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"].values()
    lines = [line for job in jobs for step in job["steps"] for line in step.get("run", "").splitlines()]
    words = [shlex.split(line) for line in lines]
    return [one[1:] for one in words if one and one[0].rpartition("/")[2] == "gpucheck"]


def test_workflow_is_valid():
    accepts("check-jsonschema", "--builtin-schema", "vendor.github-workflows", WORKFLOW)


def test_commands_exist():
    assert [one[0] for one in commands()] == ["lint", "--timeout"]
    for arguments in commands():
        cli.make_context("gpucheck", arguments).close()
        name = arguments[0] if arguments[0] == "lint" else "check"
        command = cli.get_command(None, name)
        context = command.make_context(name, arguments[1:] if name == "lint" else arguments, help_option_names=["-h", "--help"])
        assert context.params["style"] == "github"


def test_gpu_runner_does_not_run_the_code_of_forks():
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert workflow[True]["push"] == {"branches": ["main"]}  # YAML 1.1 reads "on" as true; a branch of a pull request runs once
    assert {name: job.get("if") for name, job in workflow["jobs"].items()} == {
        "lint": None,
        "gpu": "github.event_name != 'pull_request'",
    }


def test_report_is_uploaded_if_the_check_fails():
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["gpu"]["steps"]
    (upload,) = [step for step in steps if "upload-artifact" in step.get("uses", "")]
    assert upload["if"] == "always()"
    assert any(f"junit={upload['with']['path']}" in step.get("run", "") for step in steps)
