import pytest

from gpucheck.core.compat import libraries, versions
from gpucheck.core.compat.libraries import Library
from gpucheck.core.compat.tensorflow import RELEASES


@pytest.mark.parametrize("minor", RELEASES)
def test_required_libraries_match_the_sonames_in_order(minor: str) -> None:
    required = [library for library in libraries.libraries(minor) if library.required]
    assert tuple(library.soname for library in required) == RELEASES[minor].sonames


def test_sonames_and_packages_follow_cuda() -> None:
    old, new = libraries.libraries("2.14"), libraries.libraries("2.21.0")
    assert old[0] == Library("libcudart.so.11.0", "nvidia-cuda-runtime-cu11", "nvidia/cuda_runtime/lib", True)
    assert new[0] == Library("libcudart.so.12", "nvidia-cuda-runtime-cu12", "nvidia/cuda_runtime/lib", True)
    assert new[4] == Library("libcusolver.so.11", "nvidia-cusolver-cu12", "nvidia/cusolver/lib", True)
    assert {library.soname for library in libraries.libraries("2.17")} >= {"libcudnn.so.8", "libnvJitLink.so.12"}
    assert not any("nvJitLink" in library.soname for library in old)


@pytest.mark.parametrize("minor", [minor for minor, release in RELEASES.items() if release.and_cuda])
def test_every_required_package_is_in_the_extra(minor: str) -> None:
    extra = {requirement.partition("=")[0].partition("<")[0] for requirement in RELEASES[minor].and_cuda}
    assert {library.package for library in libraries.libraries(minor) if library.required} <= extra


def unreachable(minor: str) -> list[Library]:
    folders = libraries.runpath(minor)
    assert folders is not None
    return [library for library in libraries.libraries(minor) if library.required and library.folder not in folders]


def test_only_cusolver_is_unreachable_in_2_21() -> None:
    assert [library.soname for library in unreachable("2.21")] == ["libcusolver.so.11"]


@pytest.mark.parametrize("minor", ["2.16", "2.17", "2.18", "2.19", "2.20"])
def test_earlier_releases_reach_every_library(minor: str) -> None:
    assert unreachable(minor) == []


def test_system_toolkit_is_searched_before_pip_packages() -> None:
    for search in (libraries.PTXAS_SEARCH, libraries.LIBDEVICE_SEARCH):
        assert search[0].startswith("/usr/local/cuda/")
        assert search[2].startswith("{site}/" + libraries.TOOLS_FOLDER)
        for template in search:
            assert "{" not in template.format(site="/site", tensorflow="/site/tensorflow")


def test_ptxas_limits() -> None:
    assert "12.3.103" in libraries.PTXAS_BROKEN
    assert not versions.at_least("11.7.99", libraries.PTXAS_MIN)
    assert libraries.tools_package("2.14.1") == "nvidia-cuda-nvcc-cu11"
    assert libraries.tools_package("2.21.0") == "nvidia-cuda-nvcc-cu12"
