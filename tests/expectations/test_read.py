"""Valid expectations files, and the errors of invalid ones, with their line."""

import datetime

import pytest

from gpucheck.core.expectations import read
from gpucheck.core.model import Expectations, Mute

MUTE = '[[mute]]\ncode = "gpu-throttled"\nreason = "fan ordered"\nuntil = 2030-01-31\n'


def test_every_key_is_read():
    text = """
schema_version = 1
allowed_warnings = ["kernels-jit-compiled"]
[gpu]
count = 8
names = ["NVIDIA H200", "NVIDIA H1*"]
memory_gib = 139
compute_capability = "9.0"
[versions]
driver = ">=580,<581"
keras = "==3.15.*"
[training]
strategies = ["one_device"]
max_first_step_seconds = 30
[training.min_samples_per_second]
one_device = 2900
mirrored = { float32 = 20000.5, mixed_float16 = 4e4 }
"""
    got = read.parse(text + MUTE, "f.toml")
    assert (got.gpu.count, got.gpu.names, got.gpu.memory_gib) == (8, ("NVIDIA H200", "NVIDIA H1*"), 139.0)
    assert (got.versions.driver, got.versions.keras, got.versions.cuda) == (">=580,<581", "==3.15.*", None)
    assert got.training.min_samples_per_second == {
        "one_device": {"float32": 2900},
        "mirrored": {"float32": 20000.5, "mixed_float16": 40000.0},
    }
    assert got.mute == (Mute(code="gpu-throttled", reason="fan ordered", until=datetime.date(2030, 1, 31)),)
    assert got.allowed_warnings == ("kernels-jit-compiled",)


@pytest.mark.parametrize("text", [MUTE, 'allowed_warnings = ["gpu-throttled"]'])
def test_mutes_alone_are_valid_expectations_but_not_a_baseline(text):
    assert read.parse(text, "f.toml") != Expectations()
    with pytest.raises(read.Problem, match=r"^f\.toml: only mutes or allowed warnings: a file without expectations"):
        read.baseline(text, "f.toml")


@pytest.mark.parametrize(
    "text", ["[gpu]\ncount = 0", "[training.min_samples_per_second]\none_device = 1", '[versions]\npython = ">3"']
)
def test_single_expectation_is_a_baseline(text):
    assert read.baseline(text, "f.toml") == read.parse(text, "f.toml")


def test_empty_pyproject_table_expects_nothing():
    assert read.convert({}, "", "pyproject.toml") == Expectations()


def test_single_name_and_date_as_string_are_accepted():
    got = read.parse('gpu = { names = "NVIDIA H200" }\n' + MUTE.replace("2030-01-31", '"2030-01-31"'), "f.toml")
    assert got.gpu.names == ("NVIDIA H200",)
    assert got.mute[0].until == datetime.date(2030, 1, 31)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("XLA_FLAGZ = false", "gpucheck does not read this variable (did you mean XLA_FLAGS?)"),
        ("XLA_FLAGS = true", "expected its value as a string, or false for a variable that is not set"),
    ],
)
def test_invalid_expected_variables_are_reported_with_their_line(line, problem):
    with pytest.raises(read.Problem) as raised:
        read.parse(f"[environment]\n{line}", "f.toml")
    assert str(raised.value) == f"f.toml:2: environment.{line.split()[0]}: {problem}"


def test_variables_are_a_baseline():
    assert read.baseline("[environment]\nXLA_FLAGS = false", "f.toml").environment == {"XLA_FLAGS": False}


def test_tables_of_two_files_are_combined():
    first = read.parse("[gpu]\ncount = 1\n[training.min_samples_per_second]\nmirrored = 20\n", "a.toml")
    second = read.parse(
        '[environment]\nTF_XLA_FLAGS = "x"\n[training.min_samples_per_second]\nmirrored = { mixed_float16 = 30 }\n', "b.toml"
    )
    merged = read.merge(first, second)
    assert merged.environment == {"TF_XLA_FLAGS": "x"}
    assert merged.training.min_samples_per_second == {"mirrored": {"float32": 20, "mixed_float16": 30}}


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        (
            '[environment]\nTF_XLA_FLAGS = "x"',
            "[environment]\nTF_XLA_FLAGS = false",
            "environment.TF_XLA_FLAGS is x in one and False",
        ),
        (
            "[training.min_samples_per_second]\nmirrored = 2.5",
            "[training.min_samples_per_second]\nmirrored = 3",
            "training.min_samples_per_second.mirrored.float32 is 2.5 in one and 3.0",
        ),
    ],
)
def test_files_with_different_values_contradict_each_other(first, second, problem):
    with pytest.raises(read.Contradiction, match=problem):
        read.merge(read.parse(first, "a.toml"), read.parse(second, "b.toml"))
