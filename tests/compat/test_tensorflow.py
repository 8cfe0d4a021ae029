import pytest
from case_files import table

from gpucheck.core.compat import cuda, tensorflow, versions, wheels
from gpucheck.core.compat.tensorflow import CANDIDATE, RELEASES, Release


def known(version: str) -> Release:
    found = tensorflow.release(version)
    assert found is not None
    return found


def test_table_has_every_minor_from_2_10_to_2_21_in_order() -> None:
    assert list(RELEASES) == [f"2.{minor}" for minor in range(10, 22)]
    assert list(RELEASES)[-1] == tensorflow.LATEST


@pytest.mark.parametrize("entry", [*RELEASES.values(), CANDIDATE], ids=lambda entry: entry.minor)
def test_fields_of_an_entry_are_consistent(entry: Release) -> None:
    assert versions.minor(entry.latest_patch) == entry.minor
    assert versions.parse(entry.cuda)[0] == entry.cuda_major
    assert len(entry.sonames) == 7
    assert entry.sonames[-1] == f"libcudnn.so.{versions.parse(entry.cudnn)[0]}"
    assert all(versions.satisfies("1", specifier) is not None for specifier in (entry.keras, entry.numpy))
    assert versions.satisfies("1", entry.protobuf) is not None
    required = wheels.find("tensorflow", entry.latest_patch).requires_python
    assert versions.satisfies(entry.python_min, required or "")
    for package in entry.and_cuda:
        assert package.startswith("tensorrt") or f"-cu{entry.cuda_major}" in package


def test_release_accepts_any_patch_and_returns_none_if_unknown() -> None:
    assert known("2.21.0") is known("2.21") is known("2.21.0rc1") is RELEASES["2.21"]
    assert tensorflow.release("2.9.3") is None
    assert tensorflow.release("2.23.0.dev20261026") is None
    assert tensorflow.release("nightly") is None


def test_release_candidate_is_known_but_not_suggested() -> None:
    assert known("2.22.0rc0") is known("2.22.0-rc0") is CANDIDATE
    assert CANDIDATE.minor not in RELEASES
    assert versions.minor(tensorflow.recommended().partition("==")[2]) != CANDIDATE.minor
    assert tensorflow.for_python(CANDIDATE.python_max) is None


def test_values_of_2_21() -> None:
    latest = known("2.21")
    assert (latest.cuda, latest.cudnn, cuda.LOWEST_DRIVER[latest.cuda_major][0]) == ("12.5", "9.3", "525.60.13")
    assert latest.keras == ">=3.12.0"
    assert latest.glibc_floor == "2.27"
    assert "nvidia-nccl-cu12<3.0,>=2.27.7" in latest.and_cuda


def test_only_2_21_cannot_reach_cusolver() -> None:
    assert [entry.minor for entry in RELEASES.values() if not entry.cusolver_reachable] == ["2.21"]


def test_and_cuda_extra_exists_since_2_14() -> None:
    assert [entry.minor for entry in RELEASES.values() if not entry.and_cuda] == ["2.10", "2.11", "2.12", "2.13"]


@table
def test_for_python_returns_the_newest_release_that_supports_it(python: str, minor: str) -> None:
    found = tensorflow.for_python(python)
    assert found is not None
    assert found.minor == minor


@pytest.mark.parametrize("python", ["3.14", "3.14.0rc2", "3.6", "2.7", "", "pypy"])
def test_for_python_returns_none_for_unsupported_versions(python: str) -> None:
    assert tensorflow.for_python(python) is None


@pytest.mark.parametrize(("version", "lowest"), [("2.14", (3, 5)), ("2.16", (5, 0)), ("2.17", (6, 0)), ("2.21", (6, 0))])
def test_lowest_capability(version: str, lowest: tuple[int, int]) -> None:
    assert tensorflow.lowest_capability(known(version)) == lowest


@pytest.mark.parametrize(
    ("minor", "platform", "wheels", "cuda"),
    [
        ("2.12", ("darwin", "arm64"), False, False),
        ("2.13", ("darwin", "arm64"), True, False),
        ("2.17", ("darwin", "x86_64"), False, False),
        ("2.10", ("win32", "x86_64"), True, True),
        ("2.11", ("win32", "x86_64"), True, False),
        ("2.21", ("linux", "x86_64"), True, True),
        ("2.21", ("linux", "ppc64le"), False, False),
    ],
)
def test_platforms_with_wheels_and_cuda(minor: str, platform: tuple[str, str], wheels: bool, cuda: bool) -> None:
    release = RELEASES[minor]
    assert (tensorflow.has_wheels(release, *platform), tensorflow.has_cuda(release, *platform)) == (wheels, cuda)


@pytest.mark.parametrize(("minor", "needed"), [("2.17", "12.3"), ("2.18", "12.3"), ("2.19", "12.5"), ("2.20", "12.5")])
def test_hopper_without_native_code_needs_the_cuda_of_the_ptx(minor: str, needed: str) -> None:
    assert not tensorflow.is_native(RELEASES[minor], (9, 0))
    assert tensorflow.cuda_of_ptx(RELEASES[minor], (9, 0)) == needed
