"""GPUs that are older, newer or smaller than the program was built for.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "gpu-too-old": (
        # it has no context to offer, because it is passed over
        """
        I gpu_device.cc:1093] Ignoring visible gpu device (device: 1, name: GeForce GT 440, pci bus id: 0000:04:00.0) with Cuda compute capability 2.1. The minimum required Cuda capability is 3.0.
        InternalError: failed initializing StreamExecutor for CUDA device ordinal 1: Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_INVALID_DEVICE
        """,
        "2024-01-01 00:00:00.1: I tensorflow/core/common_runtime/gpu/gpu_device.cc:2255] Ignoring visible gpu device (device: 0, name: Tesla K80, pci bus id: 0000:00:1e.0, compute capability: 3.7) with Cuda compute capability 3.7. The minimum required Cuda capability is 6.0.",
        """
        /opt/torch/cuda/__init__.py:126: UserWarning:
        Found GPU0 Quadro K2200 which is of cuda capability 5.0.
        PyTorch no longer supports this GPU because it is too old.
        The minimum cuda capability supported by this library is 7.0.
        """,
        """
        name: GeForce GTX 760 major: 3 minor: 0 memoryClockRate(GHz): 1.15
        2019-01-01 00:00:00.1: F tensorflow/stream_executor/cuda/cuda_driver.cc:175] cudaErrorNoKernelImageForDevice : no kernel image is available for execution on the device
        """,
        """
        Tesla K40c with CUDA capability sm_35 is not compatible with the current PyTorch installation.
        The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_61 sm_70 sm_75 compute_37.
        """,
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1023] Ignoring gpu device (device: 0, name: GeForce GT 525M, pci bus id: 0000:01:00.0) with Cuda compute capability 2.1. The minimum required Cuda capability is 3.0.",
        "tensorflow.python.framework.errors_impl.InternalError: cudaGetDevice() failed. Status: no kernel image is available for execution on the device",
        "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: device kernel image is invalid",
        """
        > I tensorflow/core/common_runtime/gpu/gpu_device.cc:1700] Ignoring visible gpu device (device: 0, name: Quadro M1000M, pci bus id:
        > 0000:01:00.0, compute capability: 5.0) with Cuda compute capability 5.0. The minimum required Cuda capability is 6.0.
        """,
    ),
    "gpu-too-new": (
        """
        NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
        The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.
        RuntimeError: CUDA error: no kernel image is available for execution on the device
        """,
        """
        W0000 00:00:1 1 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0a. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        LLVM ERROR: PTX version 8.5 does not support target 'sm_120'. Minimum required PTX version is 8.7.
        Aborted (core dumped)
        """,
        """
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'
        W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] 'cuLaunchKernel(function, gridX, gridY, gridZ, blockX)' failed with 'CUDA_ERROR_INVALID_HANDLE'
        tensorflow.python.framework.errors_impl.InternalError: 'cuLaunchKernel(function, gridX)' failed with 'CUDA_ERROR_INVALID_HANDLE' [Op:Cast]
        """,
        """
        ptxas fatal   : Value 'sm_121' is not defined for option 'gpu-name'
        RuntimeError: `ptxas` failed with error code 255
        """,
        """
        RuntimeError: CUDA error: no kernel image is available for execution on the device
        CUDA kernel errors might be asynchronously reported at some other API call
        """,
        """
        GeForce RTX 3090 with CUDA capability sm_86 is not compatible with the current PyTorch installation.
        The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70.
        """,
        """
        triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error
        ptxas fatal   : Value 'sm_103a' is not defined for option 'gpu-name'
        """,
        "RuntimeError: Triton compilation failed\n  ptxas fatal: Unsupported .target 'sm_121'",
    ),
    "gpu-multiprocessor-count-too-low": (
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1700] Ignoring visible gpu device (device: 0, name: GeForce MX150, pci bus id: 0000:01:00.0, compute capability: 6.1) with core count: 3. The minimum required count is 8.",
    ),
}

WARNED = {
    "gpu-too-old": (
        """
        Ignoring visible gpu device (device: 1, name: Quadro K620, pci bus id: 0000:05:00.0, compute capability: 5.0) with Cuda compute capability 5.0. The minimum required Cuda capability is 6.0.
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
    "gpu-too-new": ("nvcc fatal   : Unsupported gpu architecture 'compute_120'",),
    "kernels-jit-compiled": (
        """
        TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
}

NO_ERROR = (
    """
        I0000 00:00:1 1 gpu_device.cc:1721] Ignoring visible gpu device (device: 1, name: GeForce GT 710, compute capability: 3.5) with core count: 1. The minimum required count is 8.
        Adding visible gpu devices: 0
        """,
)
