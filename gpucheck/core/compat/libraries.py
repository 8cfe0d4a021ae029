"""The shared libraries and tools that TensorFlow loads on Linux x86_64, and their search paths.

Sources: readelf -d, symbols and traced dlopen calls of the TensorFlow 2.21.0 wheel; the same measured with stub
libraries for 2.16 to 2.20; file lists of the nvidia-*-cu11 and -cu12 wheels; openxla/xla cuda_root_path.cc and
subprocess_compilation.cc (tools). The CUDA 11 names are from the toolkit and from logs, not verified for each wheel.
"""

import msgspec

from gpucheck.core.compat import tensorflow


class Library(msgspec.Struct, frozen=True):
    """One shared library and the pip package that contains it."""

    soname: str
    package: str
    folder: str  # below site-packages
    required: bool  # TensorFlow registers no GPU without it


_COMPONENTS = {
    "libcudart": "cuda_runtime",  # its absence reads as "Could not find cuda drivers on your machine"
    "libcublas": "cublas",
    "libcublasLt": "cublas",
    "libcufft": "cufft",
    "libcusolver": "cusolver",  # opens cuBLAS, cuSPARSE and nvJitLink in turn
    "libcusparse": "cusparse",
    "libcudnn": "cudnn",  # opens its parts at first use, so a partial copy fails late
}
_OPTIONAL = {
    11: {"libnccl.so.2": "nccl", "libcupti.so.11.8": "cuda_cupti"},
    12: {
        "libnccl.so.2": "nccl",  # collectives between GPUs
        "libcupti.so.12": "cuda_cupti",  # profiler
        "libnvJitLink.so.12": "nvjitlink",  # opened by cuSOLVER and cuSPARSE through their own search path
        "libnvrtc.so.12": "cuda_nvrtc",  # opened by cuDNN for the kernels it compiles at run time
    },
}

# DT_RUNPATH of libtensorflow_framework.so.2, which loads them all, below site-packages. Libraries that the process has
# already loaded and LD_LIBRARY_PATH have priority, the loader's cache comes last. cuSOLVER's folder is missing: the defect
# of 2.21.0.
RUNPATH_2_21 = (
    "nvidia/nccl/lib",
    "nvidia/cuda_cupti/lib",
    "nvidia/cublas/lib",
    "nvidia/cudnn/lib",
    "nvidia/cufft/lib",
    "nvidia/cusparse/lib",
    "tensorrt",
    "nvidia/cuda_runtime/lib",
    "nvidia/nvshmem/lib",
)

# --xla_gpu_cuda_data_dir and then PATH are searched before these: a system toolkit shadows pip's copy.
_TOOLKITS = (
    "/usr/local/cuda",
    "/opt/cuda",
    "{site}/nvidia/cuda_nvcc",
    "{site}/../nvidia/cuda_nvcc",
    "{tensorflow}/cuda",
    "{tensorflow}/../../../..",  # a conda environment's prefix
    "{tensorflow}/../../../../..",
)
PTXAS_SEARCH = tuple(f"{folder}/bin/ptxas" for folder in _TOOLKITS)
LIBDEVICE_SEARCH = (*(f"{folder}/nvvm/libdevice/libdevice.10.bc" for folder in _TOOLKITS), "./libdevice.10.bc")
TOOLS_FOLDER = "nvidia/cuda_nvcc"  # of nvidia-cuda-nvcc-cu11 and -cu12: bin/ptxas, nvvm/libdevice

# XLA ignores any ptxas below the minimum, and these.
PTXAS_BROKEN = ("12.3.103",)
PTXAS_MIN = "11.8.0"


def tools_package(release_minor: str) -> str | None:
    """Return the pip package with ptxas and libdevice: 'nvidia-cuda-nvcc-cu12'; None for an unknown release."""
    release = tensorflow.release(release_minor)
    return f"nvidia-cuda-nvcc-cu{release.cuda_major}" if release else None


def libraries(release_minor: str) -> tuple[Library, ...]:
    """Return the libraries that a release loads: the seven required ones in its order, then the optional; () if unknown."""
    release = tensorflow.release(release_minor)
    if release is None:
        return ()
    required = {soname: _COMPONENTS[soname.partition(".")[0]] for soname in release.sonames}
    return tuple(
        Library(
            soname,
            f"nvidia-{component.replace('_', '-')}-cu{release.cuda_major}",
            f"nvidia/{component}/lib",
            soname in required,
        )
        for soname, component in (required | _OPTIONAL[release.cuda_major]).items()
    )


def runpath(minor: str) -> tuple[str, ...] | None:
    """Return TensorFlow's own search path below site-packages; None if not measured.

    For when the ELF file can't be read. For 2.16 to 2.20 pip's libraries are known to be found, but not in which order.
    """
    release = tensorflow.release(minor)
    if release is None or release.minor < "2.16":
        return None
    return (*RUNPATH_2_21, "nvidia/cusolver/lib") if release.cusolver_reachable else RUNPATH_2_21
