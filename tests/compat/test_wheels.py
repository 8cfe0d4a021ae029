"""The tables agree with the wheels that tools/read_wheels.py read."""

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from gpucheck.core.compat import cuda, frameworks, versions, wheels
from gpucheck.core.compat.tensorflow import CANDIDATE, RELEASES, Release
from gpucheck.core.compat.wheels import Wheel
from gpucheck.core.solver.machine import Gpu, Machine, Python, Requirements
from gpucheck.core.solver.solve import best

each = pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
each_with_candidate = pytest.mark.parametrize("release", [*RELEASES.values(), CANDIDATE], ids=lambda release: release.minor)


def wheel_of(release: Release) -> Wheel:
    return wheels.find("tensorflow", release.latest_patch)


@each_with_candidate
def test_capabilities_match_most_fat_binaries(release: Release) -> None:
    sass, ptx, _ = wheel_of(release).code[0]
    assert (release.cubins, release.ptx) == (sass, max(ptx)[0])


@each_with_candidate
def test_glibc_of_the_table_is_new_enough_for_the_libraries(release: Release) -> None:
    assert versions.at_least(release.glibc_floor, wheel_of(release).glibc or "")


@each
def test_cuda_and_cudnn_match_the_build(release: Release) -> None:
    build = wheel_of(release).build
    assert versions.same_minor(release.cuda, build["cuda_version"])
    assert versions.parse(release.cudnn)[0] == versions.parse(build["cudnn_version"])[0]


@each
def test_requirements_match_the_metadata(release: Release) -> None:
    needs = [Requirement(text) for text in wheel_of(release).requires]
    for name in ("keras", "protobuf"):
        assert SpecifierSet(getattr(release, name)) in [need.specifier for need in needs if need.name == name]


@pytest.mark.parametrize("wheel", [wheel for wheel in wheels.all_wheels() if wheel.project.startswith("jax-cuda") and wheel.code])
def test_jax_wheels_have_code_for_the_gpus_of_the_table(wheel: Wheel) -> None:
    build = next(build for build in frameworks.JAX if f"cuda{build.cuda_major}" in wheel.project)
    for capability in filter(None, (build.lowest, build.highest)):
        assert wheels.support(wheel, capability).usable


@pytest.mark.parametrize("driver", ["545.29", "550.54"])
def test_newest_release_for_hopper_before_driver_555_is_2_18(driver: str) -> None:
    hopper = Machine(driver=driver, gpus=(Gpu(capability=(9, 0)),), pythons=(Python(version="3.12"),))
    for requirements in (Requirements(), Requirements(tensorflow="==2.18.*")):
        choice = best(hopper, requirements)
        assert choice is not None
        assert choice.tensorflow == "2.18.1"


def test_code_is_native_compiled_or_missing() -> None:
    wheel = wheels.find("tensorflow", "2.18.1")
    assert wheels.support(wheel, (8, 6)) == (1430, 0, 0, None)
    assert wheels.support(wheel, (9, 0)) == (281, 1149, 0, "8.3")
    assert not wheels.support(wheel, (5, 2)).usable


def test_unread_wheel_raises_lookup_error() -> None:
    with pytest.raises(LookupError):
        wheels.find("tensorflow", "2.9.0")


@pytest.mark.parametrize(("ptx", "needed"), [("7.1", "11.1"), ("8.4", "12.4"), ("8.5", "12.5"), ("8.7", "12.8"), ("9.0", "13.0")])
def test_cuda_version_that_a_ptx_version_needs(ptx: str, needed: str) -> None:
    assert cuda.cuda_of_ptx(ptx) == needed
