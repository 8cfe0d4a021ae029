import pytest

from gpucheck.compat import gpus, tensorflow


def test_every_native_kernel_of_tensorflow_has_an_architecture() -> None:
    for release in tensorflow.RELEASES.values():
        assert {divmod(cubin, 10) for cubin in release.cubins} <= gpus.CAPABILITIES.keys()


@pytest.mark.parametrize(
    ("counts", "floor"),
    [([132], 8), ([82, 6], 8), ([8], 8), ([6], 6), ([2, 5], 5), ([], 8)],
)
def test_a_small_gpu_is_refused_only_beside_a_larger_one(counts: list[int], floor: int) -> None:
    assert gpus.LOWEST_MULTIPROCESSORS == 8
    assert gpus.lowest_multiprocessors(counts) == floor
