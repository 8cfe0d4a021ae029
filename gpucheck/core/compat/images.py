"""NVIDIA's container images with TensorFlow, for GPUs that no wheel supports.

Sources: catalog.ngc.nvidia.com/orgs/nvidia/containers/tensorflow; docs.nvidia.com/deeplearning/frameworks,
"tensorflow-release-notes" (25.02 is the last with TensorFlow; CUDA 12.8, Linux on x86_64 and aarch64); reports of its users
(TensorFlow 2.17). Its minimum GPU and its Python are not verified; GPUs released later (10.3, 12.1) are left out.
"""

import msgspec


class Image(msgspec.Struct, frozen=True):
    """One image."""

    name: str
    tensorflow: str
    python: str
    cuda: str
    keras: str
    lowest: tuple[int, int]
    highest: tuple[int, int]
    driver_min: str
    driver_min_windows: str  # of WSL2's Windows
    architectures: tuple[str, ...]

    def lowest_driver(self, windows: bool) -> str:
        """The minimum driver, on Linux or (for WSL2) on Windows."""
        return self.driver_min_windows if windows else self.driver_min


LAST = Image(
    name="nvcr.io/nvidia/tensorflow:25.02-tf2-py3",
    tensorflow="2.17.0",
    python="3.12",
    cuda="12.8",
    keras=">=3.2.0",
    lowest=(7, 5),
    highest=(12, 0),
    driver_min="570.26",
    driver_min_windows="570.65",
    architectures=("x86_64", "aarch64"),
)
