"""Settings from pyproject.toml and variables: who wins, where each comes from, and what is refused, with the line."""

import os

import pytest

from gpucheck.cli.settings import KEYS, Setting, collect, exit_style, pyproject
from gpucheck.expectations.toml import Problem


def project(folder, text):
    (folder / "pyproject.toml").write_text(text)
    return str(folder)


def values(env, folder):
    return {name: setting.value for name, setting in collect(env, str(folder)).values.items()}


def test_nothing_is_configured(tmp_path):
    assert collect({"HOME": "/x"}, str(tmp_path)).values == {}


def test_variables_win_over_pyproject(tmp_path):
    project(tmp_path, "[tool.gpucheck]\ntimeout = 60\nallow-cpu = true\n")
    got = collect({"GPUCHECK_TIMEOUT": "30"}, str(tmp_path))
    assert got.values["timeout"] == Setting("30", "GPUCHECK_TIMEOUT")
    assert got.values["allow-cpu"] == Setting(True, f"{tmp_path}/pyproject.toml:3")


def test_the_nearest_file_upwards_counts_even_without_a_table(tmp_path):
    project(tmp_path, "[tool.gpucheck]\ntimeout = 60\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert values({}, inner) == {"timeout": 60}
    project(inner.parent, "[project]\nname = 'other'\n")
    assert values({}, inner) == {}


@pytest.mark.parametrize(
    "text", ["[tool.gpucheck]\nstrict = true", '[tool."gpucheck"]\nstrict = true', "[tool]\ngpucheck.strict = true", "tool.gpucheck.strict = true",
             "[ tool . gpucheck ]\nstrict = true", "tool = { gpucheck = { strict = true } }"]
)  # fmt: skip
def test_every_spelling_of_the_table(tmp_path, text):
    assert values({}, project(tmp_path, text)) == {"strict": True}


def test_a_file_that_only_mentions_us_is_not_parsed(tmp_path):
    project(tmp_path, "[project]\ndependencies = ['keras-gpucheck']\n[tool.ruff]\nthis is no TOML")
    assert pyproject(str(tmp_path)) == (None, ())
    assert values({}, tmp_path) == {}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_what_powershell_writes(tmp_path, encoding):
    (tmp_path / "pyproject.toml").write_bytes("[tool.gpucheck]\ntimeout = 60\n".encode(encoding))
    assert collect({}, str(tmp_path)).values == {"timeout": Setting(60, f"{tmp_path}/pyproject.toml:2")}


def test_what_is_no_file_is_passed_over(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    assert values({}, tmp_path) == {}


def test_a_pipe_is_not_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    os.mkfifo(tmp_path / "pyproject.toml")
    assert values({}, tmp_path) == {}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners here")
def test_a_file_that_others_can_have_written_is_ignored_and_named(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    project(tmp_path, "[tool.gpucheck]\ntimeout = 60\n")
    project(inner, "[tool.gpucheck]\npython = '/x/evil'\nexit-style = 'nagios'\n")
    os.chmod(inner / "pyproject.toml", 0o666)
    got = collect({}, str(inner))
    assert {name: setting.value for name, setting in got.values.items()} == {"timeout": 60}
    assert got.ignored == (f"{inner}/pyproject.toml: it can be written by every user",)
    assert exit_style({}, str(inner)) is None


def test_a_file_that_others_can_have_written_is_not_mentioned_if_it_has_no_settings(tmp_path):
    project(tmp_path, "[project]\nname = 'other'\n")
    os.chmod(tmp_path / "pyproject.toml", 0o666)
    assert collect({}, str(tmp_path)) == ({}, (), ())


def test_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "expected.toml").write_text("")
    inner = tmp_path / "inner"
    inner.mkdir()
    project(tmp_path, '[tool.gpucheck]\nexpect = "expected.toml"\npython = "python3.99"\n')
    assert values({}, inner) == {"expect": str(tmp_path / "expected.toml"), "python": "python3.99"}


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("YES", True), ("on", True), ("0", False), ("False", False), ("no", False), ("off", False)]
)  # fmt: skip
def test_flags_in_variables(tmp_path, text, value):
    assert values({"GPUCHECK_ALLOW_CPU": text}, tmp_path) == {"allow-cpu": value}


def test_an_empty_variable_says_nothing(tmp_path):
    assert values({"GPUCHECK_ALLOW_CPU": "", "GPUCHECK_TIMEOUT": ""}, tmp_path) == {}


def test_lists_in_variables(tmp_path):
    assert values({"GPUCHECK_STRATEGY": "one_device, mirrored"}, tmp_path) == {"strategy": ["one_device", "mirrored"]}


def test_every_key_has_a_variable(tmp_path):
    env = {f"GPUCHECK_{key.upper().replace('-', '_')}": "1" for key in KEYS}
    assert collect(env, str(tmp_path)).values.keys() == KEYS.keys()


def test_variables_that_kubernetes_makes_of_a_service_are_named_and_not_refused(tmp_path):
    got = collect({"GPUCHECK_PORT": "tcp://10.0.0.1:80", "GPUCHECK_SERVICE_HOST": "10.0.0.1"}, str(tmp_path))
    assert got == ({}, ("GPUCHECK_PORT", "GPUCHECK_SERVICE_HOST"), ())


def test_expectations_in_pyproject(tmp_path):
    project(tmp_path, "[tool.gpucheck.expectations.gpu]\ncount = 8\n")
    assert values({}, tmp_path)["expectations"].gpu.count == 8
    got = values({"GPUCHECK_EXPECT": "other.toml"}, tmp_path)
    assert got == {"expect": "other.toml"}


BAD = [
    ("[tool.gpucheck]\n\ntimeuot = 3", "pyproject.toml:3: tool.gpucheck.timeuot: unknown key (did you mean timeout?)"),
    ("[tool.gpucheck]\ntimeout = '3'", "pyproject.toml:2: timeout: expected a number, not '3'"),
    ("[tool.gpucheck]\nallow-cpu = 1", "pyproject.toml:2: allow-cpu: expected true or false, not 1"),
    ("[tool.gpucheck]\nstrategy = [1]", "pyproject.toml:2: strategy: expected a list of strings, not [1]"),
    ("[tool.gpucheck]\npython = 3", "pyproject.toml:2: python: expected a string, not 3"),
    ("[tool.gpucheck]\nx = = 1", "pyproject.toml:2: not TOML"),
    ("[tool]\ngpucheck = 1", "tool.gpucheck: expected a table"),
    ("[tool.gpucheck.expectations.gpu]\ncount = '8'", "pyproject.toml:2: gpu.count: expected a whole number, not a string"),
    ("[tool.gpucheck.expectations]\nschema_version = 9", "pyproject.toml:2: schema_version: 9 is newer than 1"),
    ("[tool.gpucheck]\nexpect = 'a'\n[tool.gpucheck.expectations]", "pyproject.toml:2: expect: the table"),
    ("[tool.gpucheck]\nformat = '\udcff'", "not UTF-8"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[repr(text) for text, _ in BAD])
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "pyproject.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(Problem) as caught:
        collect({}, str(tmp_path))
    assert message in str(caught.value)


def test_a_flag_that_is_no_flag(tmp_path):
    with pytest.raises(Problem, match="GPUCHECK_STRICT: expected 1 or 0"):
        collect({"GPUCHECK_STRICT": "maybe"}, str(tmp_path))
