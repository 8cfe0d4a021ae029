import subprocess
import sys

import pytest

from gpucheck.compat import versions


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("580.159.04", (580, 159, 4)),
        ("2.21.0rc1", (2, 21, 0)),
        ("12.5.1+x", (12, 5, 1)),
        ("9.0a", (9, 0)),
        (" 12.5\n", (12, 5)),
        ("1..2", (1,)),
        ("1.x.3", (1,)),
        ("", ()),
        ("v2.1", ()),
        ("unknown", ()),
        ("²", ()),
    ],
)
def test_parse_reads_the_leading_number(text: str, numbers: tuple[int, ...]) -> None:
    assert versions.parse(text) == numbers


def test_the_driver_floor_of_cuda_12_is_exact() -> None:
    assert versions.at_least("525.60.13", "525.60.13")
    assert not versions.at_least("525.60.12", "525.60.13")
    assert not versions.at_least("525", "525.60.13")
    assert versions.at_least("525.100", "525.60.13")


def test_numbers_are_compared_as_numbers_and_missing_parts_are_zero() -> None:
    assert versions.at_least("2.10", "2.9")
    assert versions.at_least("12.5", "12.5.0")
    assert versions.at_least("12.5.0", "12.5")


def test_an_unreadable_version_reaches_no_floor() -> None:
    assert not versions.at_least("unknown", "1.0")
    assert not versions.at_least("", "0")


def test_minor() -> None:
    assert versions.minor("2.21.0") == "2.21"
    assert versions.minor("2.21.0rc1") == "2.21"
    assert versions.minor("12") == "12"
    assert versions.minor("nightly") == ""


def test_same_minor() -> None:
    assert versions.same_minor("2.21.0", "2.21.3")
    assert not versions.same_minor("2.21.0", "2.20.0")
    assert not versions.same_minor("2", "2")
    assert not versions.same_minor("", "")


def test_satisfies() -> None:
    assert versions.satisfies("3.12.0", ">=3.12.0") is True
    assert versions.satisfies("3.11.3", ">=3.12.0") is False
    assert versions.satisfies("2.21.0rc1", ">=2.20") is True
    assert versions.satisfies("4.21.3", ">=3.20.3,<5.0.0dev,!=4.21.3") is False


def test_satisfies_does_not_guess() -> None:
    assert versions.satisfies("not a version", ">=1") is None
    assert versions.satisfies("1.0", "about 1") is None


@pytest.mark.parametrize(
    ("version", "specifier", "satisfied"),
    [
        ("12.5.3.2", "==12.5.3.2", True),
        ("12.5.3", "==12.5.3.2", False),
        ("12.5.3.2", "!=12.5.3.2", False),
        ("13.0", "<13.0", False),
        ("12.9.86", "<13.0", True),
        ("12.9.86", "<=12.9.86", True),
        ("12.9.87", "<=12.9.86", False),
        ("9.3.0.75", ">9.3.0.75", False),
        ("9.10.0.1", ">9.3.0.75", True),
        ("12.5.82", "==12.*", True),
        ("12.5.82.post1", "==12.5.82", False),
        ("2.27.7rc1", ">=2.27", True),
        ("2.27.7", "", True),
        ("local-build", ">=1", None),
    ],
)
def test_satisfies_plain_numbers(version: str, specifier: str, satisfied: bool | None) -> None:
    assert versions.satisfies(version, specifier) is satisfied


def test_plain_numbers_do_not_import_packaging() -> None:
    code = (
        "import sys; from gpucheck.compat import versions; assert versions.satisfies('9.3.0.75', '<10.0,>=9.3.0.75');"
        "sys.exit('packaging' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
