import pytest

from gpucheck.compat import gpus, tensorflow


@pytest.mark.parametrize(
    ("capability", "name"),
    [((3, 7), "Kepler"), ((7, 0), "Volta"), ((7, 5), "Turing"), ((8, 9), "Ada Lovelace"), ((12, 0), "Blackwell")],
)
def test_architecture(capability: tuple[int, int], name: str) -> None:
    assert gpus.architecture(capability) == name


def test_an_unknown_capability_has_no_name() -> None:
    assert gpus.architecture((8, 8)) is None
    assert gpus.architecture((99, 0)) is None


def test_float16_starts_with_volta() -> None:
    assert gpus.supports((6, 1), "float16") is False
    assert gpus.supports((7, 0), "float16") is True


@pytest.mark.parametrize("precision", ["bfloat16", "tf32"])
def test_bfloat16_and_tf32_start_with_ampere(precision: str) -> None:
    assert gpus.supports((7, 5), precision) is False  # type: ignore[arg-type]
    assert gpus.supports((8, 0), precision) is True  # type: ignore[arg-type]


def test_a_gpu_newer_than_the_table_is_unknown() -> None:
    assert gpus.supports((12, 1), "tf32") is True
    assert gpus.supports((13, 0), "tf32") is None


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


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA H100 80GB HBM3", (9, 0)),
        ("RTX 5070 Ti", (12, 0)),
        ("GTX 1070", (6, 1)),
        ("RTX A6000", (8, 6)),
        ("Tesla P100-PCIE-16GB", (6, 0)),
        ("several", None),
    ],
)
def test_a_name_or_its_series_tells_the_capability(name: str, capability: tuple[int, int] | None) -> None:
    assert gpus.named(name) == capability
