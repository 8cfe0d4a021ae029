"""Packages that GPU vendors provide themselves: AMD's for ROCm, Apple's for Metal, NVIDIA's for Jetson.

Sources: github.com/ROCm/rocm-install-on-linux docs/install/3rd-party/tensorflow-install.rst and pytorch-install.rst (images,
their options); rocm.docs.amd.com/projects/ai-ecosystem/en/latest/frameworks/tensorflow/install.html (TensorFlow: Instinct GPUs on
Linux); rocm.docs.amd.com/projects/radeon-ryzen (PyTorch on Radeon: Linux, WSL2, Windows with Python 3.12);
docs.jax.dev/en/latest/installation.html (jax[rocm7-local]: Linux x86_64, experimental in WSL2);
rocm.docs.amd.com/en/latest/compatibility/compatibility-matrix.html (chips);
pypi.org/project/tensorflow-metal (1.2.0 "fixes compatibility with 2.18+"; wheels for Python 3.9 to 3.12);
catalog.ngc.nvidia.com/orgs/nvidia/containers/tensorflow (25.02-tf2-py3-igpu);
developer.download.nvidia.com/compute/redist/jp (TensorFlow's wheels for JetPack). Not verified: the Python and the TensorFlow of
AMD's image today, and which Radeon chips TensorFlow for ROCm still supports.
"""

# Chips that ROCm's packages have code for; older ones (Vega, Polaris, RDNA 1) were dropped or never supported.
ROCM_INSTINCT = ("gfx908", "gfx90a", "gfx942", "gfx950")
ROCM_RADEON = ("gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx1201")
ROCM_WINDOWS = ("gfx1100", "gfx1101", "gfx1150", "gfx1151", "gfx1200", "gfx1201")

ROCM_OPTIONS = (
    "--network=host --device=/dev/kfd --device=/dev/dri --ipc=host --shm-size 16G --group-add video"
    " --cap-add=SYS_PTRACE --security-opt seccomp=unconfined"
)
ROCM_IMAGES = {"tensorflow": "rocm/tensorflow:latest", "torch": "rocm/pytorch:latest"}
ROCM_JAX = "jax[rocm7-local]"
ROCM_PYTHON = "3.12"

ROCM_TENSORFLOW = "https://rocm.docs.amd.com/projects/ai-ecosystem/en/latest/frameworks/tensorflow/install.html"
ROCM_RADEON_GUIDE = "https://rocm.docs.amd.com/projects/radeon-ryzen/en/latest/"
ROCM_CHIPS = "https://rocm.docs.amd.com/en/latest/compatibility/compatibility-matrix.html"
ROCM_WINDOWS_TORCH = (
    "https://rocm.docs.amd.com/projects/radeon-ryzen/en/latest/docs/install/installrad/windows/install-pytorch.html"
)

METAL = "https://developer.apple.com/metal/tensorflow-plug-in"
METAL_PACKAGES, METAL_LAST_PYTHON = ("tensorflow==2.18.1", "tensorflow-metal==1.2.0"), "3.12"  # the last release

JETSON_GUIDE = "https://docs.nvidia.com/deeplearning/frameworks/install-tf-jetson-platform/index.html"
JETSON_TORCH = "https://docs.nvidia.com/deeplearning/frameworks/install-pytorch-jetson-platform/index.html"
JETSON_OPTIONS = "--runtime=nvidia"  # its runtime refuses --gpus: github.com/dusty-nv/jetson-containers/issues/1577
JETSON_IMAGE = "nvcr.io/nvidia/tensorflow:25.02-tf2-py3-igpu"  # JetPack 6, Orin
JETSON_WHEEL = "tensorflow==2.16.1+nv24.08"  # JetPack 6.1 and 6.2, Python 3.10
JETSON_INDEX = "https://developer.download.nvidia.com/compute/redist/jp/v61"
