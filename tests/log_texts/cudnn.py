"""cuDNN and cuBLAS: missing, of another version, or there and not able to start.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "cudnn-missing": (
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        """
        Could not locate cudnn_ops_infer64_8.dll. Please make sure it is in your library path!
        Process finished with exit code -1073740791
        """,
        """
        Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory
        Aborted (core dumped)
        """,
        """
        Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}
        Invalid handle. Cannot load symbol cudnnCreateTensorDescriptor
        Aborted (core dumped)
        """,
        "[rank0]: ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
        "ImportError: libcudnn.so.7: cannot open shared object file: No such file or directory",
        """
        {"log":"2023-01-01 00:00:00.1: W tensorflow/compiler/xla/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/nvidia/lib\\n","stream":"stderr","time":"2023-01-01T00:00:00Z"}
        {"log":"Skipping registering GPU devices...\\n","stream":"stderr","time":"2023-01-01T00:00:00Z"}
        """,
    ),
    "cudnn-version-mismatch": (
        """
        E tensorflow/stream_executor/cuda/cuda_dnn.cc:320] Loaded runtime CuDNN lib
        rary: 7.4.2 but source was compiled with: 7.6.0.  CuDNN library major and minor ver
        """,
        """
        2021-02-02 02:02:02.2: E tensorflow/stream_executor/cuda/cuda_dnn.cc:319] Loaded runtime CuDNN library: 7.1.4 but source was compiled with: 7.6.4.  CuDNN library major and minor version needs to match or have higher minor version.
        tensorflow.python.framework.errors_impl.UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize
        """,
        "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, 2).",
        "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
        """
        RuntimeError: Unable to load cuDNN. Is it installed?
        Found cuDNN version 8600, but JAX was built against version 8904, which is newer.
        """,
        "E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.  CuDNN library needs to have matching major version and equal or higher minor version. If using a binary install, upgrade your CuDNN library.",
        "E cuda_dnn.cc:360] Loaded runtime CuDNN library: 7102 (compatibility version 7100) but source was compiled with 7004 (compatibility version 7000).",
        """
        worker-1  | E0000 00:00:1 9 cuda_dnn.cc:466] Loaded runtime CuDNN library: 9.1.0 but source was
        worker-1  | compiled with: 9.3.0.  CuDNN library needs to have matching major version
        """,
    ),
    "cudnn-init-failed": (
        """
        E tensorflow/stream_executor/cuda/cuda_event.cc:29] failed to query event: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure
        E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR
        """,
        "InternalError: cuDNN launch failure : input shape ([32,64,28,28])",
        "E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\nUnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize",
        "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
    ),
    "cublas-init-failed": (
        "E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\nInternalError: Blas GEMM launch failed : a.shape=(32, 784), b.shape=(784, 128), m=32, n=128, k=784",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ),
}

WARNED = {
    "cudnn-version-mismatch": (
        'torch 2.6.0 requires nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux", but you have nvidia-cudnn-cu12 9.3.0.75 which is incompatible.',
    ),
}

NO_ERROR = (
    """
        I tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc:454] Loaded cuDNN version 8904
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        E0000 00:00:1 1 cuda_dnn.cc:8579] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
)
