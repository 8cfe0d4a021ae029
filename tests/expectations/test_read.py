"""What an expectations file may say, and how everything else is refused: with the line."""

import datetime

import pytest

from gpucheck.expectations import read
from gpucheck.model import Expectations, Mute

MUTE = '[[mute]]\ncode = "gpu-throttled"\nreason = "fan ordered"\nuntil = 2030-01-31\n'

BAD = [
    ("gpu = 3", "f.toml:1: gpu: expected a table, not a whole number"),
    ('[gpu]\n\ncount = "8"', "f.toml:3: gpu.count: expected a whole number, not a string"),
    ("[gpu]\ncount = true", "f.toml:2: gpu.count: expected a whole number, not true or false"),
    ("[gpu]\ncount = -1", "f.toml:2: gpu.count: expected 0 or more"),
    ("[gpu]\ncont = 8", "f.toml:2: gpu.cont: unknown key (did you mean count?)"),
    ("[gpus]\ncount = 8", "f.toml:1: gpus: unknown key (did you mean gpu?)"),
    ("[gpu]\nnames = [1]", "f.toml:2: gpu.names[0]: expected a string, not a whole number"),
    ("[gpu]\nmemory_gib = nan", "f.toml:2: gpu.memory_gib: expected a number above 0"),
    ('[gpu]\ncompute_capability = "sm_90"', "f.toml:2: gpu.compute_capability: expected a string such as \"9.0\", not 'sm_90'"),
    ("[gpu]\ncompute_capability = 9.0", "f.toml:2: gpu.compute_capability: expected a string, not a number"),
    ("schema_version = 2", "f.toml:1: schema_version: 2 is newer than 1"),
    ('\nschema_version = "1"', "f.toml:2: schema_version: expected a whole number"),
    ("schema_version = 0", "f.toml:1: schema_version: expected a whole number"),
    ('[versions]\nkeras = "3.15"', "f.toml:2: versions.keras: '3.15' is no version specifier"),
    ('[versions]\nkeras = ""', "f.toml:2: versions.keras: '' is no version specifier"),
    ('[versions]\npytorch = ">=2"', "f.toml:2: versions.pytorch: unknown key"),
    ('[training]\nstrategies = ["miror"]', "f.toml:2: training.strategies: no strategy 'miror' (did you mean mirrored?)"),
    ("[training]\nmax_first_step_seconds = 0", "f.toml:2: training.max_first_step_seconds: expected a number of seconds"),
    ("[training.min_samples_per_second]\none_device = true", "one_device.float32: expected samples per second, not true or false"),
    ("[training.min_samples_per_second]\none_device = { float31 = 1 }", "f.toml:2: training.min_samples_per_second.one_device.float31"),
    ("[training.min_samples_per_second]\none_device = { float32 = -1 }", "expected samples per second above 0"),
    ("[training.min_samples_per_second]\nother = 1", "f.toml:2: training.min_samples_per_second.other: no strategy of that name"),
    ('allowed_warnings = "gpu-throttled"', "f.toml:1: allowed_warnings: expected a list, not a string"),
    ('allowed_warnings = ["gpu-throtled"]', "no diagnosis has the code 'gpu-throtled' (did you mean gpu-throttled?)"),
    (MUTE + MUTE.replace("led", "ld"), "f.toml:6: mute[1].code: no diagnosis has the code 'gpu-throttld'"),
    (MUTE.replace("2030-01-31", '"soon"'), "f.toml:4: mute[0].until: "),
    (MUTE.replace("2030-01-31", "2030-01-31T00:00:00Z"), "f.toml:4: mute[0].until: expected a date such as 2026-12-31"),
    (MUTE.replace("fan ordered", " "), "f.toml:3: mute[0].reason: a muted diagnosis needs a reason"),
    ('[[mute]]\ncode = "gpu-throttled"\nuntil = 2030-01-31', "f.toml:1: mute[0]: reason is missing"),
    (MUTE + 'who = "me"', "f.toml:5: mute[0].who: unknown key"),
    ("mute = 1", "f.toml:1: mute: expected a list"),
    ("x = [", "f.toml:1: not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text for text, _ in BAD])
def test_what_is_wrong_is_named_with_its_line(text, message):
    with pytest.raises(read.Problem) as caught:
        read.parse(text, "f.toml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_everything_that_may_be_said():
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


NOTHING = [
    "",
    "\ufeff",
    "# a comment\n",
    "schema_version = 1",
    "[gpu]",
    "mute = []",
    "[training.min_samples_per_second]\none_device = {}",
]


@pytest.mark.parametrize("text", NOTHING)
@pytest.mark.parametrize("how", [read.parse, read.baseline])
def test_a_file_that_expects_nothing_is_no_baseline(text, how):
    """Every machine meets it: a truncated file would say for ever that all is well."""
    with pytest.raises(read.Problem) as caught:
        how(text, "f.toml")
    assert str(caught.value).startswith("f.toml: a file that expects nothing is no baseline")


@pytest.mark.parametrize("text", [MUTE, 'allowed_warnings = ["gpu-throttled"]'])
def test_mutes_alone_can_be_asked_for_and_not_compared_with(text):
    assert read.parse(text, "f.toml") != Expectations()
    with pytest.raises(read.Problem, match=r"^f\.toml: only mutes or allowed warnings: a file that expects nothing"):
        read.baseline(text, "f.toml")


@pytest.mark.parametrize(
    "text", ["[gpu]\ncount = 0", "[training.min_samples_per_second]\none_device = 1", '[versions]\npython = ">3"']
)
def test_one_expectation_is_a_baseline(text):
    assert read.baseline(text, "f.toml") == read.parse(text, "f.toml")


def test_an_empty_table_of_pyproject_expects_nothing():
    assert read.convert({}, "", "pyproject.toml") == Expectations()


def test_one_name_and_a_date_as_text_are_fine():
    got = read.parse('gpu = { names = "NVIDIA H200" }\n' + MUTE.replace("2030-01-31", '"2030-01-31"'), "f.toml")
    assert got.gpu.names == ("NVIDIA H200",)
    assert got.mute[0].until == datetime.date(2030, 1, 31)
