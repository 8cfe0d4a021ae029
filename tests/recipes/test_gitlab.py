"""The pipeline, against the schema of GitLab's pipelines; its gpucheck commands, parsed by gpucheck."""

import shlex

import yaml
from recipe_helpers import RECIPES, accepts

from gpucheck.cli import cli

PIPELINE = RECIPES / "gitlab/.gitlab-ci.yml"


def test_pipeline_is_valid():
    accepts("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", PIPELINE)


def test_entrypoint_of_the_image_is_overridden():
    jobs = yaml.safe_load(PIPELINE.read_text())
    assert [jobs[name]["image"]["entrypoint"] for name in ("gpu", "train")] == [[""], [""]]


def test_commands_exist():
    jobs = yaml.safe_load(PIPELINE.read_text())
    lines = [shlex.split(line) for job in jobs.values() if "script" in job for line in job["script"]]
    commands = [words[1:] for words in lines if words[0] == "gpucheck"]
    assert [words[0] for words in commands] == ["lint", "--timeout", "run"]
    for words in commands:
        name, arguments = ("check", words) if words[0].startswith("-") else (words[0], words[1:])
        cli.get_command(None, name).make_context(name, arguments)
    assert all(jobs[name]["stage"] in jobs["stages"] for name in ("lint", "gpu", "train"))
