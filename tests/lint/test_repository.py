"""Paths for GitHub: relative to the workspace or the repository, independent of the current folder."""

import json
import os

import pytest
from command import gpucheck

from gpucheck.commands.lint.reports import in_repository
from gpucheck.commands.lint.runner import SEARCH, Failure, Result

BAD = "import tensorflow as tf\ntf.Session()\n"
NONE = {"GITHUB_WORKSPACE": ""}


def program(path, text=BAD):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def places(path, cwd, env):
    """The paths in GitHub's annotations and in SARIF, of results and of unreadable files."""
    lines = gpucheck("lint", path, "--format", "github", cwd=cwd, env=env).stdout.splitlines()
    annotated = {line.partition(" file=")[2].partition(",")[0] for line in lines}
    (run,) = json.loads(gpucheck("lint", path, "--format", "sarif", cwd=cwd, env=env).stdout)["runs"]
    found = [*run["results"], *run["invocations"][0]["toolExecutionNotifications"]]
    return annotated, {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in found}


@pytest.mark.parametrize("workspace", ["inside", "other", "none"])
def test_paths_are_relative_to_the_workspace_or_the_repository(tmp_path, workspace):
    source = program(tmp_path / "repo/src/loop.py").parent
    program(source / "broken.py", "def\n")
    (tmp_path / "repo/.git").mkdir()
    env = {"GITHUB_WORKSPACE": {"inside": str(tmp_path / "repo"), "other": str(tmp_path / "repository"), "none": ""}[workspace]}
    expected = {"src/loop.py", "src/broken.py"}
    for path in (".", source, "../src"):
        assert places(path, source, env) == (expected, expected)
    (tmp_path / "repo/tests").mkdir()
    assert places("../src", tmp_path / "repo/tests", env) == (expected, expected)


def test_workspace_takes_precedence_over_a_nested_repository(tmp_path):
    source = program(tmp_path / "repo/module/loop.py").parent
    (source / ".git").write_text("gitdir: ../.git/modules/module\n")  # a submodule
    assert places(".", source, {"GITHUB_WORKSPACE": str(tmp_path / "repo")})[0] == {"module/loop.py"}
    assert places(".", source, NONE)[0] == {"loop.py"}


def test_workspace_can_be_a_link(tmp_path):
    source = program(tmp_path / "disk/repo/src/loop.py").parent
    (tmp_path / "work").symlink_to("disk")
    assert places(".", source, {"GITHUB_WORKSPACE": str(tmp_path / "work/repo")})[0] == {"src/loop.py"}


def test_paths_outside_a_repository_are_unchanged(tmp_path):
    file = program(tmp_path / "src/loop.py")
    (tmp_path / "tests").mkdir()
    assert places(".", file.parent, NONE) == ({"loop.py"}, {"loop.py"})
    # A URI that leaves its base is not valid in SARIF.
    assert places("../src", tmp_path / "tests", NONE) == ({"../src/loop.py"}, {file.as_uri()})


def test_paths_in_other_formats_are_relative_to_the_current_folder(tmp_path):
    source = program(tmp_path / "src/loop.py").parent
    (tmp_path / ".git").mkdir()
    assert gpucheck("lint", "loop.py", cwd=source).stdout.startswith("loop.py:2:1:")
    (found,) = json.loads(gpucheck("lint", "loop.py", "--format", "json", cwd=source).stdout)["findings"]
    assert found["file"] == "loop.py"


@pytest.mark.parametrize("name", ["-", SEARCH])
def test_names_that_are_not_files_are_unchanged(tmp_path, monkeypatch, name):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    os.chdir("src")
    result = Result(0, (), (Failure(name, None, None, None, "why"),))
    assert in_repository(result) == result
