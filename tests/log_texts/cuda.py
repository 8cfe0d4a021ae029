"""CUDA's start: it fails for no reason given, on a variable, or in a process that was forked.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

from log_texts._cuda_start import DIAGNOSTICS, DRIVER

NAMED = {
    "cuda-init-failed": (
        "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start. Setting the available devices to be zero.",
        "E0000 00:00:1745000000.5 42 cuda_executor.cc:1228] failed call to cuInit: CUDA_ERROR_OPERATING_SYSTEM: OS call failed or operation not supported on this OS",
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 805: MPS client failed to connect to the MPS control daemon or the MPS server",
        "W0000 xla_bridge.py:987] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_DEVICE_NOT_LICENSED: device doesn't have valid Grid license",
        "THCudaCheck FAIL file=../aten/src/THC/THCGeneral.cpp line=50 error=999 : unknown error\nRuntimeError: cuda runtime error (999) : unknown error at ../aten/src/THC/THCGeneral.cpp:50",
        "docker: Error response from daemon: nvidia-container-cli: initialization error: cuda error: unknown error: unknown.",
        "CUDA error: CUDA_ERROR_MPS_SERVER_NOT_READY: the MPS server is not ready to accept new MPS client requests",
        f'{DRIVER} CUDA_ERROR_UNKNOWN: unknown error\n{DIAGNOSTICS}190] libcuda reported version is: 384.81.0\n{DIAGNOSTICS}369] driver version file contents: """NVRM version: NVIDIA UNIX x86_64 Kernel Module  384.81  Sat Sep  2 02:43:11 PDT 2017',
        "ggml_cuda_init: failed to initialize CUDA: unknown error",
    ),
    "cuda-environment-malformed": (
        "E0000 00:00:1791800000.7 4157 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_INVALID_DEVICE: invalid device ordinal",
    ),
    "cuda-used-after-fork": (
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
        "[2024-02-03 11:00:00 +0000] [77] [ERROR] F tensorflow/stream_executor/cuda/cuda_driver.cc:147] Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error",
        f"{DRIVER} CUDA_ERROR_NOT_INITIALIZED: initialization error",
    ),
}
