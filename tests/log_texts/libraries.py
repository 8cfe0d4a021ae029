"""CUDA's libraries: missing, out of sight, of another version, damaged, or in each other's way.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "cuda-libraries-missing": (
        """
        2023-01-05 10:00:00.1: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory
        2023-01-05 10:00:00.2: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcublas.so.11'; dlerror: libcublas.so.11: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /opt/lib
        2023-01-05 10:00:00.3: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /opt/lib
        2023-01-05 10:00:00.4: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        """
        [1,0]<stderr>:2024-03-03 01:02:03.4: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
        "OSError: libcurand.so.10: cannot open shared object file: No such file or directory",
        "ImportError: libcusparseLt.so.0: cannot open shared object file: No such file or directory",
        """
        2022-08-08 11:11:11.1: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'cublas64_11.dll'; dlerror: cublas64_11.dll not found
        2022-08-08 11:11:11.2: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'cusparse64_11.dll'; dlerror: cusparse64_11.dll not found
        2022-08-08 11:11:11.3: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1850] Cannot dlopen some GPU libraries.
        """,
        """
        E0000 00:00:1760000000.1 12 cuda_executor.cc:1737] INTERNAL: CUDA Runtime error: Failed call to cudaGetRuntimeVersion: Error loading CUDA libraries. GPU will not be used.
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        """
        Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file: No such file or directory
        Aborted (core dumped)
        """,
        "ImportError: libnvrtc.so.12: cannot open shared object file: No such file or directory",
        "RuntimeError: jaxlib/cuda... Unable to load cuSPARSE. Is it installed?",
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:59] Could not load dynamic library 'libcusolver.so.10'; dlerror: libcusolver.so.10: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda/lib64
        W gpu_device.cc:1757] Cannot dlopen some GPU libraries.
        """,
        "ImportError: Could not find 'cudart64_100.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable. Download and install CUDA 10.0",
        "OSError: libcublas.so.12: cannot open shared object file: No such file or directory",
        "[pod/train-0/main] 2024-01-01 00:00:00.1: W gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly",
        "(RayTrainWorker pid=411, ip=10.0.0.1) ImportError: libcublas.so.11: cannot open shared object file: No such file or directory",
    ),
    "cuda-libraries-unreachable": (
        """
        Successfully installed keras-3.12.0 nvidia-cublas-cu12-12.5.3.2 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.21.0
        $ python train.py
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        """
        I0000 00:00:1.1 9 dso_loader.cc:133] Successfully opened dynamic library libcudart.so.12
        I0000 00:00:1.2 9 dso_loader.cc:133] Successfully opened dynamic library libcublas.so.12
        I0000 00:00:1.3 9 dso_loader.cc:144] Could not load dynamic library 'libcusolver.so.11'; dlerror: libcusolver.so.11: cannot open shared object file: No such file or directory
        W0000 00:00:1.4 9 gpu_device.cc:2365] Cannot dlopen some GPU libraries.
        """,
    ),
    "cuda-version-mismatch": (
        "CUDA backend failed to initialize: Found CUDA version 12010, but JAX was built against version 12020, which is newer.",
        """
        I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library libcudart.so.10.1
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcublas.so.11'; dlerror: libcublas.so.11: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-10.1/lib64
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-12.2/lib64
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcusparse.so.11'; dlerror: libcusparse.so.11: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-12.2/lib64
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        "RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (11.8). Please make sure to use the same CUDA versions.",
        "RuntimeError: Found cuSPARSE version 12000, but JAX was built against version 12103, which is newer.",
        """
        W dso_loader.cc:60] Could not load dynamic library 'libcudart.so.10.0'; dlerror: libcudart.so.10.0: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-9.0/lib64
        ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory
        """,
        """
        $ nvcc --version
        Cuda compilation tools, release 12.1, V12.1.105
        ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory
        """,
    ),
    "library-corrupt": (
        "OSError: /home/u/.venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12: file too short",
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcusolver.so.11'; dlerror: libcusolver.so.11: invalid ELF header
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
        "ImportError: /opt/cuda/lib/libcudart.so.12: wrong ELF class: ELFCLASS32",
        "OSError: [WinError 193] %1 is not a valid Win32 application",
        "ImportError: /usr/lib/libcublasLt.so.12: cannot read file data: Is a directory",
        """
        W dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: /usr/local/cuda/lib64/libcudnn.so.8: file too short; LD_LIBRARY_PATH: /usr/local/cuda/lib64
        Skipping registering GPU devices...
        """,
        "docker: OSError: /usr/local/lib/python3.10/dist-packages/nvidia/cudnn/lib/libcudnn_adv.so.9: invalid ELF header",
    ),
    "library-path-conflict": (
        "ImportError: /venv/lib/python3.11/site-packages/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12",
        "Could not load library libcudnn_cnn_train.so.8. Error: /usr/lib/x86_64-linux-gnu/libcudnn_cnn_train.so.8: undefined symbol: _ZN5cudnn3cnn34layerNormFwd_execute_internal_implERKNS_7backend11VariantPackE, version libcudnn_cnn_infer.so.8",
        "ImportError: /opt/v/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister",
        "AttributeError: /opt/conda/lib/libcudart.so.11.0: undefined symbol: cudaLaunchKernelExC",
        "ImportError: /opt/v/lib/python3.10/site-packages/torch/lib/../../nvidia/cudnn/lib/libcudnn_graph.so.9: undefined symbol: cudnnGetLibConfig, version libcudnn.so.9",
        "/opt/python: symbol lookup error: /opt/v/nvidia/cudnn/lib/libcudnn_cnn.so.9: undefined symbol: _ZNK5cudnn7backend, version libcudnn_graph.so.9",
        "OSError: /opt/v/nvidia/cusolver/lib/libcusolver.so.11: undefined symbol: cublasSetEnvironmentMode, version libcublas.so.12",
        "ImportError: /opt/v/torch/lib/libc10_cuda.so: undefined symbol: cudaGetDriverEntryPointByVersion, version libcudart.so.12",
    ),
}

WARNED = {
    "cuda-libraries-missing": (
        "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: cannot open shared object file: No such file or directory",
    ),
}

NO_ERROR = (
    """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory
        W py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        """,
    """
        2023: W tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc: Loaded cuDNN version 8600
        Could not load library libcublasLt.so.12. Error: libcublasLt.so.12: cannot open shared object file: No such file or directory
        I0000 Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22 MB memory:  -> device: 0, name: NVIDIA A10, pci bus id: 0, compute capability: 8.6
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
)
