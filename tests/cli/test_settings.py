"""Settings from pyproject.toml and variables: precedence, source, and errors with their line."""

import itertools
import json
import os
import pathlib

import case_files
import msgspec
import pytest

from gpucheck.cli.settings import KEYS, Setting, collect, exit_style
from gpucheck.core.expectations.toml import Problem

CASES = pathlib.Path(__file__).parents[1] / "cases" / "settings.txt"


def outcome(case, folder):
    """Return each setting with its source, and the unknown variables; or the error."""
    files = [json.loads(line.partition(" = ")[2]) for line in case.given if line.startswith("file pyproject.toml = ")]
    env = dict(line[4:].split(" = ", 1) for line in case.given if line.startswith("env "))
    for text in files:
        project(folder, text)
    try:
        got = collect(env, str(folder))
    except Problem as problem:
        return [f"-> refused: {problem}".replace(f"{folder}/", "")]
    plain = msgspec.to_builtins({name: setting.value for name, setting in got.values.items()})
    lines = [f"{name} = {json.dumps(value)} from {got.values[name].source}" for name, value in plain.items()]
    lines += [f"unknown: {name}" for name in got[1]]
    return [f"-> {line}".replace(f"{folder}/", "") for line in lines or ["nothing"]]


def test_settings_match_their_cases(request, tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())

    def of(case):
        (folder := next(folders)).mkdir()
        return outcome(case, folder)

    case_files.check(CASES, case_files.read(CASES), of, request.config.getoption("--update-goldens"))


def project(folder, text):
    (folder / "pyproject.toml").write_text(text)
    return str(folder)


def values(env, folder):
    return {name: setting.value for name, setting in collect(env, str(folder)).values.items()}


def test_nearest_file_applies_even_without_a_table(tmp_path):
    project(tmp_path, "[tool.gpucheck]\ntimeout = 60\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert values({}, inner) == {"timeout": 60}
    project(inner.parent, "[project]\nname = 'other'\n")
    assert values({}, inner) == {}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_of_powershell(tmp_path, encoding):
    (tmp_path / "pyproject.toml").write_bytes("[tool.gpucheck]\ntimeout = 60\n".encode(encoding))
    assert collect({}, str(tmp_path)).values == {"timeout": Setting(60, f"{tmp_path}/pyproject.toml:2")}


def test_non_files_are_skipped(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    assert values({}, tmp_path) == {}


def test_pipe_does_not_block(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes on this system")
    os.mkfifo(tmp_path / "pyproject.toml")
    assert values({}, tmp_path) == {}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no file owners on this system")
def test_file_writable_by_others_is_ignored_and_named(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    project(tmp_path, "[tool.gpucheck]\ntimeout = 60\n")
    project(inner, "[tool.gpucheck]\npython = '/x/evil'\nexit-style = 'nagios'\n")
    os.chmod(inner / "pyproject.toml", 0o666)
    got = collect({}, str(inner))
    assert {name: setting.value for name, setting in got.values.items()} == {"timeout": 60}
    assert got.ignored == (f"{inner}/pyproject.toml: it can be written by every user",)
    assert exit_style({}, str(inner)) is None


def test_file_writable_by_others_without_settings_is_not_mentioned(tmp_path):
    project(tmp_path, "[project]\nname = 'other'\n")
    os.chmod(tmp_path / "pyproject.toml", 0o666)
    assert collect({}, str(tmp_path)) == ({}, (), ())


def test_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "expected.toml").write_text("")
    inner = tmp_path / "inner"
    inner.mkdir()
    project(tmp_path, '[tool.gpucheck]\nexpect = "expected.toml"\npython = "python3.99"\n')
    assert values({}, inner) == {"expect": str(tmp_path / "expected.toml"), "python": "python3.99"}


def test_empty_variable_is_ignored(tmp_path):
    assert values({"GPUCHECK_ALLOW_CPU": "", "GPUCHECK_TIMEOUT": ""}, tmp_path) == {}


def test_every_key_has_a_variable(tmp_path):
    env = {f"GPUCHECK_{key.upper().replace('-', '_')}": "1" for key in KEYS}
    assert collect(env, str(tmp_path)).values.keys() == KEYS.keys()


def test_file_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"[tool.gpucheck]\nformat = '\xff'")
    with pytest.raises(Problem, match="not UTF-8"):
        collect({}, str(tmp_path))
