"""The CUDA version of each driver, and the GPUs that cuDNN has dropped.

Sources: NVIDIA CUDA Toolkit Release Notes, "CUDA Driver" (13.4 Update 1 edition; 13.0 to 13.2 from the 13.2 Update 2
edition); conda-forge/tensorflow-feedstock #457 (cuDNN 9.11); NVIDIA's Unix graphics feature deprecation schedule (the last
branch for an architecture); aws/deep-learning-containers #6418 (cuDNN 9.24);
docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html (the lowest driver of a CUDA major).
"""

from gpucheck.core.compat import versions

# Driver branch -> its CUDA, newest first. CUDA 12.7 had a driver, but no toolkit.
BRANCHES = (
    *((615, "13.4"), (610, "13.3"), (595, "13.2"), (590, "13.1"), (580, "13.0"), (575, "12.9"), (570, "12.8")),
    *((565, "12.7"), (560, "12.6"), (555, "12.5"), (550, "12.4"), (545, "12.3"), (535, "12.2"), (530, "12.1")),
    *((525, "12.0"), (520, "11.8"), (515, "11.7"), (510, "11.6"), (495, "11.5"), (470, "11.4"), (465, "11.3")),
    *((460, "11.2"), (455, "11.1"), (450, "11.0"), (440, "10.2"), (418, "10.1"), (410, "10.0"), (396, "9.2")),
    *((390, "9.1"), (384, "9.0")),
)

CUDNN_WITHOUT_OLD_GPUS, _CUDNN_LOWEST_SINCE = "9.11", (7, 5)
CUDNN_LAST_FOR_OLD_GPUS = "9.10.2"
CUDNN_FOR_OLD_GPUS = f"nvidia-cudnn-cu12<{CUDNN_WITHOUT_OLD_GPUS}"
# The first that is known to work with XLA of TensorFlow 2.21. With 9.5, a convolution with a bias failed on a T4, A10G and L4;
# with 9.3, one in bfloat16 failed on an H100.
CUDNN_FOR_XLA = "9.24"

# CUDA major -> the minimum driver for all its minors, on Linux and on Windows (whose driver WSL2 uses). It loads native kernels;
# PTX needs a driver as new as the toolkit that built it (else CUDA error 222).
LOWEST_DRIVER = {11: ("450.80.02", "452.39"), 12: ("525.60.13", "528.33"), 13: ("580.65.06", "580.88")}

# The last driver branch for GPUs of an architecture.
LAST_BRANCH = {"Fermi": 390, "Kepler": 470, "Maxwell": 580, "Pascal": 580, "Volta": 580}

# The first CUDA whose driver supports GPUs of a compute capability; only recent ones.
_FIRST_CUDA = {
    (8, 9): "11.8",
    (9, 0): "11.8",
    (10, 0): "12.8",
    (10, 3): "12.9",
    (11, 0): "13.0",
    (12, 0): "12.8",
    (12, 1): "12.9",
}

# Values of CUDA_VISIBLE_DEVICES that hide all GPUs; Slurm sets NoDevFiles for a job without a GPU.
HIDES_ALL = ("", "-1", "NoDevFiles", "none", "void")

CUDA_ERROR_OUT_OF_MEMORY = 2
CUDA_ERROR_NOT_INITIALIZED = 3  # from a later call, it means that this process never called cuInit
CUDA_ERROR_NO_DEVICE = 100
CUDA_ERROR_INVALID_DEVICE = 101
CUDA_ERROR_OPERATING_SYSTEM = 304
CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804
CUDA_ERROR_UNKNOWN = 999
CUDA_ERRORS_OF_MPS = (805, 807, 808)
# The results that identify a fault by themselves, from a call or in a log -> the code of its diagnosis.
_DIAGNOSES = {
    34: "cuda-stub-loaded",
    35: "driver-too-old",  # older than CUDA's runtime needs
    36: "driver-too-old",  # older than a call needs
    46: "compute-mode-exclusive",  # another process uses a GPU that allows one process
    CUDA_ERROR_INVALID_DEVICE: "cuda-environment-malformed",
    214: "ecc-errors",
    216: "compute-mode-exclusive",  # another thread of this process uses the GPU
    220: "nvlink-down",
    221: "driver-library-missing",  # the one that compiles PTX
    226: "ecc-errors",
    802: "fabric-manager-down",
    803: "driver-library-mismatch",
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: "driver-library-mismatch",
    919: "fabric-manager-down",
}
CUDA_ERRORS_WITH_DIAGNOSIS = tuple(_DIAGNOSES)
# No proof of a node's fault: a job holds the memory or the GPU, a system call failed, or a user's MPS server does not respond.
CUDA_ERRORS_OF_JOBS = (CUDA_ERROR_OUT_OF_MEMORY, 46, 304, *range(805, 811))


def results_of(diagnosis: str) -> tuple[int, ...]:
    """Return the CUDA results that identify a fault, by the code of its diagnosis: (802, 919) for "fabric-manager-down"."""
    return tuple(result for result, code in _DIAGNOSES.items() if code == diagnosis)


def branches() -> tuple[int, int]:
    """Return the oldest and the newest driver branch in the table."""
    return BRANCHES[-1][0], BRANCHES[0][0]


def cuda_of_driver(driver: str) -> str | None:
    """Return the newest CUDA that a driver supports: '580.159.04' -> '13.0'; None if unreadable or older than CUDA 9.

    By branch, for when the driver itself can't be queried. A branch newer than the table gets the table's newest CUDA.
    """
    branch = versions.parse(driver)[:1]
    return next((cuda for first, cuda in BRANCHES if branch >= (first,)), None)


def branch_of_cuda(cuda: str) -> str | None:
    """Return the first driver branch that supports a CUDA: '12.5' -> '555'; None if no branch in the table does."""
    return next((str(branch) for branch, newest in reversed(BRANCHES) if versions.at_least(newest, cuda)), None)


def cuda_of_ptx(ptx: str) -> str:
    """Return the first CUDA whose driver can compile a PTX version, from 7.0 on: '8.5' -> '12.5'.

    Source: PTX ISA, "Release Notes". No CUDA came with a new PTX between 12.5 and 12.7.
    """
    major, minor = versions.parse(ptx)[:2]
    return f"{major + 4}.{minor + (major == 8 and minor > 5)}"


def first_branch(capability: tuple[int, int]) -> str | None:
    """Return the first driver branch that supports a compute capability: (12, 0) -> '570'; None if every branch does."""
    cuda = _FIRST_CUDA.get(capability)
    return branch_of_cuda(cuda) if cuda else None


def cudnn_runs_on(cudnn: str, capability: tuple[int, int]) -> bool:
    """Whether this cuDNN has kernels for the GPU; 9.11 dropped GPUs before Turing (7.5)."""
    return capability >= _CUDNN_LOWEST_SINCE or not versions.at_least(cudnn, CUDNN_WITHOUT_OLD_GPUS)
