import pytest

from gpucheck.compat import cuda
from gpucheck.compat.tensorflow import RELEASES, Release


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_tensorflow_asks_for_the_first_driver_of_its_cuda(release: Release) -> None:
    for driver in (release.driver_min_linux, release.driver_min_windows):
        assert cuda.cuda_of_driver(driver) == f"{release.cuda_major}.0"


@pytest.mark.parametrize(
    ("driver", "newest"),
    [
        ("580.159.04", "13.0"),
        ("579.99", "12.9"),
        ("573.42", "12.8"),  # Windows numbers lie between the branches
        ("535.54.03", "12.2"),
        ("525.60.13", "12.0"),
        ("470.256.02", "11.4"),
        ("565.57.01", "12.7"),
        ("700.1", "13.4"),
        ("383.0", None),
        ("unknown", None),
    ],
)
def test_cuda_of_driver(driver: str, newest: str | None) -> None:
    assert cuda.cuda_of_driver(driver) == newest
