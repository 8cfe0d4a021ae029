import pytest

from gpucheck.core.compat import cuda
from gpucheck.core.compat.tensorflow import RELEASES, Release


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_minimum_driver_is_the_first_driver_of_the_cuda_major(release: Release) -> None:
    for driver in cuda.LOWEST_DRIVER[release.cuda_major]:
        assert cuda.cuda_of_driver(driver) == f"{release.cuda_major}.0"
