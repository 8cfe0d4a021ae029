"""The CUDA that each driver brings, the driver API's results, and the GPUs that cuDNN has dropped.

Sources: NVIDIA CUDA Toolkit Release Notes, "CUDA Driver" (13.4 Update 1 edition; 13.0 to 13.2 from the 13.2 Update 2
edition); cuda.h of CUDA 12.9 and 13.5, and driver_types.h for 35 and 98 (result codes); what a code means for TensorFlow:
measured with the 2.21.0 wheel, and on an H200 node with device nodes taken away; conda-forge/tensorflow-feedstock #457
(cuDNN 9.11).
"""

from typing import NamedTuple

from gpucheck.compat import versions


class CuResult(NamedTuple):
    """A CUresult: its name, and what it means to somebody training."""

    name: str
    meaning: str


# Driver branch -> the CUDA it brings, newest first. There was a driver for 12.7, but no toolkit.
_BRANCHES = (
    *((615, "13.4"), (610, "13.3"), (595, "13.2"), (590, "13.1"), (580, "13.0"), (575, "12.9"), (570, "12.8")),
    *((565, "12.7"), (560, "12.6"), (555, "12.5"), (550, "12.4"), (545, "12.3"), (535, "12.2"), (530, "12.1")),
    *((525, "12.0"), (520, "11.8"), (515, "11.7"), (510, "11.6"), (495, "11.5"), (470, "11.4"), (465, "11.3")),
    *((460, "11.2"), (455, "11.1"), (450, "11.0"), (440, "10.2"), (418, "10.1"), (410, "10.0"), (396, "9.2")),
    *((390, "9.1"), (384, "9.0")),
)

_CUDNN_WITHOUT_OLD_GPUS, _CUDNN_LOWEST_SINCE = "9.11", (7, 5)
CUDNN_LAST_FOR_OLD_GPUS = "9.10.2"

# Values of CUDA_VISIBLE_DEVICES; NoDevFiles is Slurm's, for a job without a GPU.
HIDES_ALL = ("", "-1", "NoDevFiles", "none", "void")

CUDA_ERROR_STUB_LIBRARY = 34
CUDA_ERROR_NO_DEVICE = 100
CU_RESULTS: dict[int, CuResult] = {
    0: CuResult("CUDA_SUCCESS", "the call succeeded"),
    1: CuResult("CUDA_ERROR_INVALID_VALUE", "a bad argument; in practice a mix of library versions, or a bug"),
    2: CuResult("CUDA_ERROR_OUT_OF_MEMORY", "no memory left on the GPU, or not enough even for a context"),
    3: CuResult("CUDA_ERROR_NOT_INITIALIZED", "cuInit was not called, failed, or was called before a fork"),
    34: CuResult("CUDA_ERROR_STUB_LIBRARY", "the toolkit's link-time stub was loaded instead of the driver"),
    35: CuResult("cudaErrorInsufficientDriver", "the driver is older than the CUDA runtime asks for, or absent"),
    36: CuResult("CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the driver does not know this call yet"),
    46: CuResult("CUDA_ERROR_DEVICE_UNAVAILABLE", "another process holds the GPU exclusively, or its compute mode forbids use"),
    98: CuResult("cudaErrorInvalidDeviceFunction", "a kernel was not compiled for this GPU"),
    100: CuResult("CUDA_ERROR_NO_DEVICE", "the driver works and offers this process no GPU"),
    101: CuResult("CUDA_ERROR_INVALID_DEVICE", "there is no GPU of this number, counted after hiding"),
    102: CuResult("CUDA_ERROR_DEVICE_NOT_LICENSED", "the virtual GPU has no licence"),
    200: CuResult("CUDA_ERROR_INVALID_IMAGE", "kernel code that this GPU can't load, or a damaged compute cache"),
    201: CuResult("CUDA_ERROR_INVALID_CONTEXT", "the context is gone: after a fork, a reset or the loss of the GPU"),
    209: CuResult(
        "CUDA_ERROR_NO_BINARY_FOR_GPU", "neither native code nor usable PTX for this GPU, in TensorFlow or in a library"
    ),
    214: CuResult("CUDA_ERROR_ECC_UNCORRECTABLE", "GPU memory lost data beyond repair"),
    217: CuResult("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "these two GPUs can't read each other's memory"),
    218: CuResult("CUDA_ERROR_INVALID_PTX", "the driver rejects the kernel's PTX"),
    220: CuResult("CUDA_ERROR_NVLINK_UNCORRECTABLE", "an NVLink transfer failed beyond repair"),
    221: CuResult("CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "the driver's PTX compiler, libnvidia-ptxjitcompiler.so.1, is absent"),
    222: CuResult(
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "the PTX comes from a newer CUDA than the driver knows; minor-version compatibility does not cover it",
    ),
    223: CuResult("CUDA_ERROR_JIT_COMPILATION_DISABLED", "CUDA_DISABLE_PTX_JIT=1 forbids compiling, and there is no native code"),
    226: CuResult("CUDA_ERROR_CONTAINED", "a memory error killed this process and spared the GPU"),
    227: CuResult("CUDA_ERROR_INSUFFICIENT_LOADER_VERSION", "the driver can't read this kernel format"),
    301: CuResult("CUDA_ERROR_FILE_NOT_FOUND", "a file of kernel code is absent"),
    302: CuResult(
        "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "TensorFlow could not open libcudart, or the driver library lacks a function"
    ),
    # TensorFlow's own answer, which logs as 'UNKNOWN ERROR (303)' because cuGetErrorName is in that library too.
    303: CuResult("CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "TensorFlow could not open libcuda.so.1, the driver's library"),
    304: CuResult("CUDA_ERROR_OPERATING_SYSTEM", "a system call failed: device nodes, cgroup rules or process limits"),
    500: CuResult("CUDA_ERROR_NOT_FOUND", "the driver library lacks a function or symbol"),
    700: CuResult(
        "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel touched memory it does not own; the process can't go on (compare Xid 31)"
    ),
    702: CuResult("CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel ran too long on a GPU that also drives a display"),
    709: CuResult("CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context was destroyed"),
    710: CuResult("CUDA_ERROR_ASSERT", "a check inside a kernel failed, often an index out of range"),
    711: CuResult("CUDA_ERROR_TOO_MANY_PEERS", "no GPU can take more peers"),
    715: CuResult("CUDA_ERROR_ILLEGAL_INSTRUCTION", "a kernel ran into an illegal instruction"),
    719: CuResult("CUDA_ERROR_LAUNCH_FAILED", "a kernel died; the kernel log's Xid says more"),
    800: CuResult("CUDA_ERROR_NOT_PERMITTED", "the operation is not permitted to this user"),
    801: CuResult("CUDA_ERROR_NOT_SUPPORTED", "this GPU or system lacks the feature (cuda_malloc_async under WSL2, for one)"),
    802: CuResult("CUDA_ERROR_SYSTEM_NOT_READY", "the NVSwitch fabric is not up: no fabric manager of the driver's version"),
    803: CuResult("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "libcuda and the kernel module are of different versions"),
    804: CuResult(
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "a forward-compatibility libcuda was loaded, which only data-center GPUs take",
    ),
    805: CuResult("CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS daemon does not answer"),
    807: CuResult("CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server is recovering"),
    808: CuResult("CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the MPS server has no place left"),
    919: CuResult("CUDA_ERROR_FABRIC_NOT_READY", "the GPU has not joined the fabric yet"),
    999: CuResult(
        "CUDA_ERROR_UNKNOWN", "the driver gives no reason; a missing /dev/nvidia-uvm and a suspended machine both end here"
    ),
}


def cuda_of_driver(driver: str) -> str | None:
    """The newest CUDA that a driver speaks: '580.159.04' -> '13.0'; None if unreadable or older than CUDA 9.

    By branch, for when the driver itself can't be asked. A branch newer than the table gets the newest CUDA in it.
    """
    branch = versions.parse(driver)[:1]
    return next((cuda for first, cuda in _BRANCHES if branch >= (first,)), None)


def cu_result(code: int) -> CuResult | None:
    """What a CUresult means; None for a code outside the table."""
    return CU_RESULTS.get(code)


def cudnn_runs_on(cudnn: str, capability: tuple[int, int]) -> bool:
    """Whether this cuDNN still has kernels for the GPU: from 9.11 on none before Turing (7.5)."""
    return capability >= _CUDNN_LOWEST_SINCE or not versions.at_least(cudnn, _CUDNN_WITHOUT_OLD_GPUS)
