"""The command that installs the packages of an extra, for each kind of installation."""

import pathlib
import sys

import pytest

from gpucheck.cli import installation


def test_packages_match_the_extras():
    tomllib = pytest.importorskip("tomllib", reason="tomllib requires Python 3.11")
    project = tomllib.loads(pathlib.Path(__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["optional-dependencies"]
    packages = installation.PACKAGES
    assert {extra: tuple(need.partition(">=")[0] for need in declared[extra]) for extra in packages} == packages


def test_pipx_environment_gets_the_pipx_command(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "keras-gpucheck"))
    (tmp_path / "keras-gpucheck").mkdir()
    assert installation.extra_command("ray") == f"{sys.executable} -m pip install ray"
    (tmp_path / "keras-gpucheck/pipx_metadata.json").write_text("{}")
    assert installation.extra_command("html") == "pipx inject keras-gpucheck jinja2"
