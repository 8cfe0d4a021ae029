"""cuDNN and cuBLAS: versions, handles that could not be created, and their status words.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "cudnn-absent": (
        ("UnimplementedError: Graph execution error: DNN library is not found.", {}),
        ("\t [[{{node model/conv1/Conv2D}}]] DNN library is not found. [Op:__inference_predict_function_9]", {}),
    ),
    "cuda-toolkit": (
        ("Cuda compilation tools, release 11.8, V11.8.89", {"version": "11.8"}),
        ("#8 0.3 Cuda compilation tools, release 12.4, V12.4.131", {"version": "12.4"}),
    ),
    "cublas-failed": (
        (
            "E cuda_blas.cc:238] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED",
            {"status": "CUBLAS_STATUS_NOT_INITIALIZED"},
        ),
        ("E0000 00:00:1.5 7 cuda_blas.cc:204] failed to create cublas handle: the resource allocation failed", {}),
        ("InternalError: Blas xGEMM launch failed : a.shape=[1,32,784]", {}),
        (
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            {"status": "CUBLAS_STATUS_ALLOC_FAILED"},
        ),
    ),
    "cuda-version-mismatch": (
        (
            "Found cuBLAS version 120103, but JAX was built against version 120205, which is newer.",
            {"library": "cuBLAS", "found": "120103"},
        ),
        ("RuntimeError: Found cuFFT version 11002, but JAX was built against version 11100, which is newer.", {"built": "11100"}),
    ),
    "cudnn-failed": (
        (
            "E cuda_dnn.cc:371] could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR",
            {"status": "CUDNN_STATUS_INTERNAL_ERROR"},
        ),
        ("UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize", {}),
        ("FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above.", {}),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", {"status": "CUDNN_STATUS_NOT_INITIALIZED"}),
    ),
    "cudnn-loaded": (
        ("I tensorflow/stream_executor/cuda/cuda_dnn.cc:384] Loaded cuDNN version 8100", {"version": "8100"}),
        ("I0000 00:00:1.1 9 cuda_dnn.cc:529] Loaded cuDNN version 90300", {"version": "90300"}),
    ),
    "cudnn-version-mismatch": (
        (
            "E cuda_dnn.cc:319] Loaded runtime CuDNN library: 7.1.4 but source was compiled with: 7.6.0.  CuDNN library major",
            {"loaded": "7.1.4", "compiled": "7.6.0"},
        ),
        (
            "E0430 22:32:43.417007 24 cuda_dnn.cc:454] Loaded runtime CuDNN library: 9.1.0 but source\nwas compiled with: 9.8.0.",
            {"loaded": "9.1.0", "compiled": "9.8.0"},
        ),
        ("RuntimeError: Found cuDNN version 8600, but JAX was built against version 8700, which is newer.", {"loaded": "8600"}),
    ),
    "cusolver-failed": (
        ("failed to create cusolverDn instance: CUSOLVER_STATUS_NOT_INITIALIZED", {"status": "CUSOLVER_STATUS_NOT_INITIALIZED"}),
        ("F cuda_solvers.cc:115] Check failed: cusolverDnCreate() == Failed to create cuSolverDN instance.", {}),
    ),
}

NOT_MEANT = {
    "cudnn-absent": ("DNN library initialization failed.", "The DNN library is found in /usr/lib."),
    "cuda-toolkit": ("no Cuda compilation tools here",),
    "cublas-failed": (
        "Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS",
        "cublas call returned CUBLAS_STATUS_SUCCESS",
    ),
    "cuda-version-mismatch": ("Found cuBLAS version 120205",),
    "cudnn-failed": (
        "W cuda_executor.cc:1755] Failed to determine cuDNN version (Note that this is expected): INTERNAL: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
        "could not destroy cudnn handle: CUDNN_STATUS_BAD_PARAM",
    ),
    "cudnn-loaded": ("Loaded runtime CuDNN library: 9.1.0",),
    "cudnn-version-mismatch": ("Loaded cuDNN version 8906",),
    "cusolver-failed": ("Successfully opened dynamic library libcusolver.so.11", "CUSOLVER_STATUS_SUCCESS"),
}
