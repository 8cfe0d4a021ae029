"""CUDA results: cuInit and what takes its place in other frameworks, the driver's age, and everything later.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "cuda-error": (
        (
            "E cuda_event.cc:29] Error polling for event status: failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory",
            {"code": "700"},
        ),
        ("RuntimeError: CUDA error: device-side assert triggered", {"code": "710"}),
        ("cupy.cuda.runtime.CUDARuntimeError: cudaErrorLaunchFailure: unspecified launch failure", {"code": "719"}),
        (
            "InternalError: cudaSetDevice() on GPU:0 failed. Status: all CUDA-capable devices are busy or unavailable",
            {"code": "46"},
        ),
        ("F cuda_driver.cc:219] Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error", {"code": "3"}),
    ),
    "cuda-used-after-fork": (
        ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, use 'spawn'", {}),
        ("CUDA context cannot be used after fork()", {}),
    ),
    "cuinit-failed": (
        (
            "UserWarning: CUDA initialization: CUDA driver initialization failed, you might not have a CUDA gpu.",
            {"message": "CUDA driver initialization failed"},
        ),
        ("E cuda_driver.cc:406] failed call to cuInit: CUDA_ERROR_UNKNOWN", {"code": "999"}),
        ("E cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (303)", {"code": "303"}),
        (
            "E0000 00:00:1795191811.787784    4157 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to "
            "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination",
            {"code": "803"},
        ),
        ("numba.cuda.cudadrv.error.CudaSupportError: [100] Call to cuInit results in CUDA_ERROR_NO_DEVICE", {"code": "100"}),
        (
            "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was",
            {"code": "804"},
        ),
        ("RuntimeError: No CUDA GPUs are available", {"code": "100"}),
        ("jaxlib/cuda/versions_helpers.cc:55: operation cuInit(0) failed: CUDA_ERROR_NO_DEVICE", {"code": "100"}),
        ("nvidia-container-cli: initialization error: cuda error: unknown error", {"code": "999"}),
    ),
    "driver-absent": (
        ("Command 'nvidia-smi' not found, but can be installed with:", {}),
        ("RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU", {}),
        ("bash: nvidia-smi: command not found", {}),
        ("'nvidia-smi' is not recognized as an internal or external command,", {}),
    ),
    "driver-older-than-ptxas": (
        (
            "W asm_compiler.cc:231] The NVIDIA driver's CUDA version is 12.2 which is older than the ptxas CUDA version (12.3.107).",
            {"version": "12.2", "needed": "12.3.107"},
        ),
        (
            "W0000 nvptx_compiler.cc:930] The NVIDIA driver's CUDA version is 12.4 which is older than the PTX compiler version 12.5.82.",
            {"needed": "12.5.82"},
        ),
    ),
    "driver-too-old": (
        ("InternalError: cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version", {}),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 10020).", {"version": "10020"}),
        (
            "requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer version",
            {"needed": "12.4"},
        ),
    ),
    "fabric-not-ready": (
        ("failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized", {}),
        ("nvidia-fabricmanager.service: Failed with result 'exit-code'.", {}),
        ("Error 802: system not yet initialized (Triggered internally at CUDAFunctions.cpp:109.)", {}),
    ),
    "stub-loaded": (
        (
            "        libcuda.so.1 => /usr/local/cuda/lib64/stubs/libcuda.so.1 (0x00007f1a2c000000)",
            {"path": "/usr/local/cuda/lib64/stubs/libcuda.so.1"},
        ),
        (
            "7f3b5c000000-7f3b5c012000 r-xp 00000000 08:02 1315322  /opt/cuda/lib64/stubs/libcuda.so",
            {"path": "/opt/cuda/lib64/stubs/libcuda.so"},
        ),
        ("python3 4121 ada mem REG 8,2 59208 1315322 /opt/cuda/lib64/stubs/libcuda.so.1", {}),
        ("        Mapped libcuda.so paths:\n                /opt/cuda/lib64/stubs/libcuda.so", {}),
        ("     Loaded from /opt/cuda/lib64/stubs/libcuda.so", {}),
        ('openat(AT_FDCWD, "/opt/cuda/lib64/stubs/libcuda.so.1", O_RDONLY|O_CLOEXEC) = 3', {}),
        ("0x00007fff 0x00007ffe  Yes (*)     /opt/cuda/lib64/stubs/libcuda.so.1", {}),
    ),
}

NOT_MEANT = {
    "cuda-error": (
        "E cuda_dnn.cc:8579] Unable to register cuDNN factory",
        "W cuda_driver: CUDA_ERROR_DEINITIALIZED: driver shutting down",
        "failed call to cuInit: CUDA_ERROR_NO_DEVICE",
    ),
    "cuda-used-after-fork": ("RuntimeWarning: os.fork() was called.",),
    "cuinit-failed": ("cuInit returned 0", "calling cuInit", "cuInit: CUDA_SUCCESS"),
    "driver-absent": ("$ nvidia-smi", "Found NVIDIA driver 580"),
    "driver-older-than-ptxas": ("The NVIDIA driver's CUDA version is 12.5",),
    "driver-too-old": ("CUDA driver version is 12.5", "Your pip is too old"),
    "fabric-not-ready": ("nvidia-fabricmanager.service: active (running)", "Fabric Manager started"),
    "stub-loaded": (
        "g++ main.o -L/usr/local/cuda/lib64/stubs -lcuda",
        "-- Found CUDA driver: /usr/local/cuda/lib64/stubs/libcuda.so",
        'openat(AT_FDCWD, "/opt/cuda/lib64/stubs/libcuda.so.1", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)',
        "libcuda.so.1 => /usr/lib/x86_64-linux-gnu/libcuda.so.1 (0x00007f1a2c000000)",
        "-rw-r--r-- 1 root root 59208 Oct  1  2025 /usr/local/cuda/lib64/stubs/libcuda.so",
    ),
}
