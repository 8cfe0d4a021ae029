"""NVIDIA's last container image with TensorFlow, for GPUs that no wheel supports.

Sources: catalog.ngc.nvidia.com/orgs/nvidia/containers/tensorflow; docs.nvidia.com/deeplearning/frameworks,
"tensorflow-release-notes" (25.02 is the last with TensorFlow; CUDA 12.8, Linux on x86_64 and aarch64); reports of its users
(TensorFlow 2.17). Its minimum GPU and its Python are not verified; GPUs released later (10.3, 12.1) are left out.
"""

NAME = "nvcr.io/nvidia/tensorflow:25.02-tf2-py3"
TENSORFLOW, KERAS = "2.17.0", ">=3.2.0"
PYTHON, CUDA = "3.12", "12.8"
ARCHITECTURES = ("x86_64", "aarch64")
LOWEST, HIGHEST = (7, 5), (12, 0)  # compute capability
LOWEST_DRIVER = ("570.26", "570.65")  # on Linux, and on Windows (whose driver WSL2 uses)
