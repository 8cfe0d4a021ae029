"""What the wheels of TensorFlow support."""

import pytest

from gpucheck.core.compat import builds
from gpucheck.core.compat.tensorflow import RELEASES


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
def test_platforms(minor: str, platform: tuple[str, str], wheels: bool, cuda: bool) -> None:
    release = RELEASES[minor]
    assert (builds.has_wheels(release, *platform), builds.has_cuda(release, *platform)) == (wheels, cuda)


@pytest.mark.parametrize(("minor", "needed"), [("2.17", "12.3"), ("2.18", "12.3"), ("2.19", "12.5"), ("2.20", "12.5")])
def test_hopper_needs_the_cuda_of_the_ptx(minor: str, needed: str) -> None:
    assert not builds.is_native(RELEASES[minor], (9, 0))
    assert builds.cuda_of_ptx(RELEASES[minor], (9, 0)) == needed
