"""How much the answers of `gpucheck setup` download, and how much disk space they take.

Source: `tools/download_sizes.py`, on 2026-11-25, for Linux on x86_64 and each release's newest Python: the sizes of the wheels in
PyPI's index, and of the files in them. pip also compiles the Python files: measured, TensorFlow then takes 8 % more
on disk, and JAX 22 %. Newer releases of their dependencies change the sums. PyTorch's own index was not accessible.
"""

from typing import NamedTuple


class Size(NamedTuple):
    """Size of an environment, in MB (10^6 bytes)."""

    download_mb: int
    disk_mb: int


def name(packages: tuple[str, ...], cuda: str | None) -> str:
    """Return the table's name of an answer: its framework's requirement, and whether CUDA libraries come with it."""
    framework = next(package for package in packages if package != "keras" and not package.startswith("-"))
    return f"{framework}{', with CUDA' if cuda else ''}"


def size(packages: tuple[str, ...], cuda: str | None) -> Size | None:
    """Return the measured size of an answer for Linux on x86_64; None: not measured."""
    return SIZES.get(name(packages, cuda))


SIZES = {
    "tensorflow==2.10.1": Size(660, 1594),
    "tensorflow==2.11.1": Size(670, 1626),
    "tensorflow==2.12.1": Size(807, 2204),
    "tensorflow==2.13.1": Size(554, 1531),
    "tensorflow==2.14.1": Size(567, 1615),
    "tensorflow==2.15.1": Size(554, 1600),
    "tensorflow==2.16.2": Size(661, 1894),
    "tensorflow==2.17.1": Size(672, 1932),
    "tensorflow==2.18.1": Size(686, 1870),
    "tensorflow==2.19.1": Size(712, 1976),
    "tensorflow==2.20.0": Size(695, 2037),
    "tensorflow==2.21.0": Size(633, 2055),
    "jax": Size(152, 554),
    "tensorflow==2.14.1, with CUDA": Size(2516, 5009),
    "tensorflow[and-cuda]==2.15.1, with CUDA": Size(2435, 4611),
    "tensorflow[and-cuda]==2.16.2, with CUDA": Size(2505, 4834),
    "tensorflow[and-cuda]==2.17.1, with CUDA": Size(2515, 4872),
    "tensorflow[and-cuda]==2.18.1, with CUDA": Size(2495, 4685),
    "tensorflow[and-cuda]==2.19.1, with CUDA": Size(2531, 4806),
    "tensorflow[and-cuda]==2.20.0, with CUDA": Size(3502, 6469),
    "tensorflow[and-cuda]==2.21.0, with CUDA": Size(3440, 6487),
    "jax[cuda13], with CUDA": Size(2645, 4606),
    "jax[cuda12], with CUDA": Size(3376, 5760),
}
