"""Numbers of CUDA and NVML results by every way a log spells them: the name in C, in Python, and the sentence.

Sources: cuda.h and driver_types.h of CUDA 12.9 and 13.5, cuGetErrorString and cudaGetErrorString; nvml.h of NVML API 13,
nvmlErrorString, and the exceptions of nvidia-ml-py.
"""

from functools import lru_cache
from typing import NamedTuple


class Result(NamedTuple):
    """A result code as a log's fields carry it."""

    code: str
    name: str
    message: str


# code | driver API | runtime API | how its sentence begins
_CUDA = """
0|CUDA_SUCCESS|cudaSuccess|no error
1|CUDA_ERROR_INVALID_VALUE|cudaErrorInvalidValue|invalid argument
2|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|out of memory
3|CUDA_ERROR_NOT_INITIALIZED|cudaErrorInitializationError|initialization error
4|CUDA_ERROR_DEINITIALIZED|cudaErrorCudartUnloading|driver shutting down
34|CUDA_ERROR_STUB_LIBRARY|cudaErrorStubLibrary|cuda driver is a stub library
35||cudaErrorInsufficientDriver|cuda driver version is insufficient for cuda runtime version
36|CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER|cudaErrorCallRequiresNewerDriver|api call requires a newer cuda driver
46|CUDA_ERROR_DEVICE_UNAVAILABLE|cudaErrorDevicesUnavailable|cuda-capable device(s) is/are busy or unavailable
46|||all cuda-capable devices are busy or unavailable
98||cudaErrorInvalidDeviceFunction|invalid device function
100|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|no cuda-capable device is detected
101|CUDA_ERROR_INVALID_DEVICE|cudaErrorInvalidDevice|invalid device ordinal
102|CUDA_ERROR_DEVICE_NOT_LICENSED|cudaErrorDeviceNotLicensed|device doesn't have valid grid license
200|CUDA_ERROR_INVALID_IMAGE|cudaErrorInvalidKernelImage|device kernel image is invalid
201|CUDA_ERROR_INVALID_CONTEXT|cudaErrorDeviceUninitialized|invalid device context
209|CUDA_ERROR_NO_BINARY_FOR_GPU|cudaErrorNoKernelImageForDevice|no kernel image is available for execution on the device
214|CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable|uncorrectable ecc error encountered
217|CUDA_ERROR_PEER_ACCESS_UNSUPPORTED|cudaErrorPeerAccessUnsupported|peer access is not supported
218|CUDA_ERROR_INVALID_PTX|cudaErrorInvalidPtx|a ptx jit compilation failed
220|CUDA_ERROR_NVLINK_UNCORRECTABLE|cudaErrorNvlinkUncorrectable|uncorrectable nvlink error
221|CUDA_ERROR_JIT_COMPILER_NOT_FOUND|cudaErrorJitCompilerNotFound|ptx jit compiler library not found
222|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion|the provided ptx was compiled with
223|CUDA_ERROR_JIT_COMPILATION_DISABLED|cudaErrorJitCompilationDisabled|ptx jit compilation was disabled
226|CUDA_ERROR_CONTAINED|cudaErrorContained|
227|CUDA_ERROR_INSUFFICIENT_LOADER_VERSION|cudaErrorInsufficientLoaderVersion|
300|CUDA_ERROR_INVALID_SOURCE|cudaErrorInvalidSource|device kernel image is invalid
301|CUDA_ERROR_FILE_NOT_FOUND|cudaErrorFileNotFound|file not found
302|CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND|cudaErrorSharedObjectSymbolNotFound|shared object symbol not found
303|CUDA_ERROR_SHARED_OBJECT_INIT_FAILED|cudaErrorSharedObjectInitFailed|shared object initialization failed
304|CUDA_ERROR_OPERATING_SYSTEM|cudaErrorOperatingSystem|os call failed or operation not supported on this os
400|CUDA_ERROR_INVALID_HANDLE|cudaErrorInvalidResourceHandle|invalid resource handle
401|CUDA_ERROR_ILLEGAL_STATE|cudaErrorIllegalState|
500|CUDA_ERROR_NOT_FOUND|cudaErrorSymbolNotFound|named symbol not found
600|CUDA_ERROR_NOT_READY|cudaErrorNotReady|device not ready
700|CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress|an illegal memory access was encountered
701|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|cudaErrorLaunchOutOfResources|too many resources requested for launch
702|CUDA_ERROR_LAUNCH_TIMEOUT|cudaErrorLaunchTimeout|the launch timed out and was terminated
704|CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED|cudaErrorPeerAccessAlreadyEnabled|peer access is already enabled
705|CUDA_ERROR_PEER_ACCESS_NOT_ENABLED|cudaErrorPeerAccessNotEnabled|peer access has not been enabled
709|CUDA_ERROR_CONTEXT_IS_DESTROYED|cudaErrorContextIsDestroyed|context is destroyed
710|CUDA_ERROR_ASSERT|cudaErrorAssert|device-side assert triggered
711|CUDA_ERROR_TOO_MANY_PEERS|cudaErrorTooManyPeers|peer mapping resources exhausted
714|CUDA_ERROR_HARDWARE_STACK_ERROR|cudaErrorHardwareStackError|hardware stack error
715|CUDA_ERROR_ILLEGAL_INSTRUCTION|cudaErrorIllegalInstruction|an illegal instruction was encountered
716|CUDA_ERROR_MISALIGNED_ADDRESS|cudaErrorMisalignedAddress|misaligned address
717|CUDA_ERROR_INVALID_ADDRESS_SPACE|cudaErrorInvalidAddressSpace|operation not supported on global/shared address space
718|CUDA_ERROR_INVALID_PC|cudaErrorInvalidPc|invalid program counter
719|CUDA_ERROR_LAUNCH_FAILED|cudaErrorLaunchFailure|unspecified launch failure
800|CUDA_ERROR_NOT_PERMITTED|cudaErrorNotPermitted|operation not permitted
801|CUDA_ERROR_NOT_SUPPORTED|cudaErrorNotSupported|operation not supported
802|CUDA_ERROR_SYSTEM_NOT_READY|cudaErrorSystemNotReady|system not yet initialized
803|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|cudaErrorSystemDriverMismatch|system has unsupported display driver
804|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|cudaErrorCompatNotSupportedOnDevice|forward compatibility was attempted
805|CUDA_ERROR_MPS_CONNECTION_FAILED|cudaErrorMpsConnectionFailed|mps client failed to connect
806|CUDA_ERROR_MPS_RPC_FAILURE|cudaErrorMpsRpcFailure|
807|CUDA_ERROR_MPS_SERVER_NOT_READY|cudaErrorMpsServerNotReady|
808|CUDA_ERROR_MPS_MAX_CLIENTS_REACHED|cudaErrorMpsMaxClientsReached|
809|CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED|cudaErrorMpsMaxConnectionsReached|
810|CUDA_ERROR_MPS_CLIENT_TERMINATED|cudaErrorMpsClientTerminated|
909|CUDA_ERROR_TIMEOUT|cudaErrorTimeout|
911|CUDA_ERROR_EXTERNAL_DEVICE|cudaErrorExternalDevice|
919|CUDA_ERROR_FABRIC_NOT_READY|cudaErrorFabricNotReady|
999|CUDA_ERROR_UNKNOWN|cudaErrorUnknown|unknown error
999|||cuda unknown error
"""

# code | nvml.h | nvidia-ml-py | how its sentence begins
_NVML = """
1|NVML_ERROR_UNINITIALIZED|NVMLError_Uninitialized|uninitialized
2|NVML_ERROR_INVALID_ARGUMENT|NVMLError_InvalidArgument|invalid argument
3|NVML_ERROR_NOT_SUPPORTED|NVMLError_NotSupported|not supported
4|NVML_ERROR_NO_PERMISSION|NVMLError_NoPermission|insufficient permissions
6|NVML_ERROR_NOT_FOUND|NVMLError_NotFound|not found
7|NVML_ERROR_INSUFFICIENT_SIZE|NVMLError_InsufficientSize|insufficient size
8|NVML_ERROR_INSUFFICIENT_POWER|NVMLError_InsufficientPower|insufficient external power
9|NVML_ERROR_DRIVER_NOT_LOADED|NVMLError_DriverNotLoaded|driver not loaded
9|||nvidia driver is not loaded
10|NVML_ERROR_TIMEOUT|NVMLError_Timeout|timeout
11|NVML_ERROR_IRQ_ISSUE|NVMLError_IrqIssue|interrupt request issue
12|NVML_ERROR_LIBRARY_NOT_FOUND|NVMLError_LibraryNotFound|nvml shared library not found
12|||could not load nvml library
13|NVML_ERROR_FUNCTION_NOT_FOUND|NVMLError_FunctionNotFound|function not found
14|NVML_ERROR_CORRUPTED_INFOROM|NVMLError_CorruptedInforom|corrupted inforom
15|NVML_ERROR_GPU_IS_LOST|NVMLError_GpuIsLost|gpu is lost
16|NVML_ERROR_RESET_REQUIRED|NVMLError_ResetRequired|gpu requires restart
16|||gpu requires reset
17|NVML_ERROR_OPERATING_SYSTEM|NVMLError_OperatingSystem|the operating system has blocked the request
17|||gpu access blocked by the operating system
17|||gpu access blocked by the os
18|NVML_ERROR_LIB_RM_VERSION_MISMATCH|NVMLError_LibRmVersionMismatch|rm has detected an nvml/rm version mismatch
18|||driver/library version mismatch
19|NVML_ERROR_IN_USE|NVMLError_InUse|in use by another client
20|NVML_ERROR_MEMORY|NVMLError_Memory|insufficient memory
23|NVML_ERROR_INSUFFICIENT_RESOURCES|NVMLError_InsufficientResources|insufficient resources
27|NVML_ERROR_NOT_READY|NVMLError_NotReady|the system is not ready
28|NVML_ERROR_GPU_NOT_FOUND|NVMLError_GpuNotFound|no gpus found
999|NVML_ERROR_UNKNOWN|NVMLError_Unknown|unknown error
"""


@lru_cache(maxsize=2)
def _index(table: str) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for row in table.strip().splitlines():
        code, name, other, message = row.split("|")
        result = Result(code, name or other, message)
        for key in (code, name, other, message):
            if key:
                found.setdefault(key.lower(), found.get(code, result))
    return found


def _lookup(table: str, spelled: str) -> Result | None:
    wanted = spelled.strip(" \t.,:;'\"").lower()
    found = _index(table)
    if wanted in found:
        return found[wanted]
    sentences = (key for key in found if " " in key and wanted.startswith(key))
    best = max(sentences, key=len, default=None)
    return None if best is None else found[best]


def cuda(spelled: str) -> Result | None:
    """The CUDA result a log means by ``"802"``, ``"cudaErrorNoDevice"`` or ``"out of memory: ..."``; None if unknown."""
    return _lookup(_CUDA, spelled)


def nvml(spelled: str) -> Result | None:
    """The NVML result a log means by a number, a name or a sentence; None if unknown."""
    return _lookup(_NVML, spelled)
